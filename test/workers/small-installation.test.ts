// runs-alone: it measures what idle processes take
// runs-long: npm test has test/workers/loaded-at-start.test.ts
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { choosePort } from "../../script/lib/ports.mjs";
import { readProcfile } from "../../script/lib/procfile.mjs";
import { programOf, root } from "../support/built.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { skipBecause } from "../support/skip.ts";
import { until } from "../support/until.ts";
import { environmentOf, spawnWorker, type WorkerProcess, whenReady } from "./worker-process.ts";

/** Loose bounds, for any machine; docs/performance.md#a-small-installation has the aims and what was measured. */
const MOST = { mb: 300, shareOfCore: 0.1 };
const WINDOW_MS = 10_000;
/** How long a start and a busy machine may keep the processes from being idle. */
const IDLE_MS = 150_000;
/** `/proc/<pid>/stat` counts in hundredths of a second. */
const TICK_MS = 10;

/** What the processes had at a moment. */
interface Sample {
  at: number;
  mb: number;
  cpuMs: number;
}

const nameOf = (program: string) => /(\w+)\.js$/.exec(program)?.[1]?.replace("server", "web") ?? "";

describe("a small installation", () => {
  let platform: TestPlatform;
  const children: WorkerProcess[] = [];
  before(async function () {
    // From the sources, the compiler would be in each process.
    if (process.platform !== "linux") skipBecause(this, "it is about Linux");
    if (programOf("src/server.ts").includes("tsx")) skipBecause(this, "dist/ is out of date");
    platform = await openTestPlatform({ ADMIN_PASSWORD: "a password of the board", SWEEP_EVERY: "30s" });
  });
  after(async () => {
    for (const child of children) child.kill("SIGKILL");
    for (const { ended } of children) await ended;
    await platform?.destroy();
  });

  function sample(): Sample {
    let [mb, cpuMs] = [0, 0];
    for (const { pid } of children) {
      const status = readFileSync(`/proc/${pid}/status`, "utf8");
      mb += Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
      const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
      const [user, system] = stat
        .slice(stat.lastIndexOf(")") + 2)
        .split(" ")
        .slice(11, 13)
        .map(Number);
      cpuMs += ((user ?? 0) + (system ?? 0)) * TICK_MS;
    }
    return { at: performance.now(), mb, cpuMs };
  }

  it("takes little memory and next to no processor time once it is idle", async () => {
    const port = await choosePort(0);
    const programs = readProcfile(join(root, "Procfile.small"));
    expect(programs.map(({ args }) => nameOf(args.at(-1) ?? ""))).to.deep.equal(["web", "all"]);
    for (const { args } of programs) {
      const env = {
        ...environmentOf(platform.config),
        // As `npm start` leaves them: what a test has shorter would be work.
        ...{ TIMEOUTS: "stalled:10s", SWEEP_EVERY: "30s", PORT: String(port) },
        ADMIN_PASSWORD: "a password of the board",
      };
      children.push(spawnWorker(nameOf(args.at(-1) ?? ""), env, { flags: args.slice(0, -1) }));
    }
    for (const child of children) await whenReady(child);
    const samples = [sample()];
    const seen = () => {
      const last = samples.at(-1) as Sample;
      const first = samples.findLast(({ at }) => at <= last.at - WINDOW_MS);
      if (!first) return undefined;
      return { mb: last.mb, shareOfCore: (last.cpuMs - first.cpuMs) / (last.at - first.at) };
    };
    await until(
      () => {
        samples.push(sample());
        const { mb, shareOfCore } = seen() ?? { mb: Number.POSITIVE_INFINITY, shareOfCore: 1 };
        if (mb < MOST.mb && shareOfCore < MOST.shareOfCore) return true;
        throw new Error(`${Math.round(mb)} MB, ${Math.round(shareOfCore * 100)} % of a core`);
      },
      { timeoutMs: IDLE_MS, what: `below ${MOST.mb} MB and ${MOST.shareOfCore * 100} % of a core` },
    );
    for (const child of children) child.kill("SIGTERM");
    expect(await Promise.all(children.map(({ ended }) => ended))).to.deep.equal([0, 0]);
  });
});
