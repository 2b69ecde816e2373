import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { isOurs } from "../../script/lib/processes.mjs";
import { Supervisor } from "../../script/lib/supervisor.mjs";
import { until } from "../support/until.ts";

describe("the supervisor of a start", () => {
  let root: string;
  let lines: string[];
  let gaveUp: Error | undefined;
  let supervisor: Supervisor;

  const run = (code: string, name = "web", options: string[] = []) => {
    writeFileSync(join(root, `${name}.mjs`), code);
    supervisor.start({ name, program: "node", args: [...options, `${name}.mjs`, "--own"] });
  };
  const isReady = () => supervisor.waiting().length === 0;

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "headwater-supervisor-"));
    lines = [];
    gaveUp = undefined;
    supervisor = new Supervisor({
      root,
      env: { PATH: process.env.PATH },
      backOffMs: [10],
      print: (name, line) => lines.push(`${name}: ${line}`),
      say: text => lines.push(text),
      onSpawn: () => {},
      onGiveUp: error => {
        gaveUp = error;
      },
    });
  });

  afterEach(() => {
    supervisor.killAll();
    rmSync(root, { recursive: true, force: true });
  });

  const READY = `console.log(JSON.stringify({ msg: "ready" })); setInterval(() => {}, 1000);`;

  it("knows from its log line that a process is ready, and starts a process that dies again", async () => {
    run(`${READY} if (process.env.ONCE === undefined) setTimeout(() => process.exit(3), 50);`);
    await until(isReady, { what: "the ready line" });
    await until(() => lines.some(line => line.includes("code 3")), { what: "the notice" });
    await until(() => lines.filter(line => line.includes('"ready"')).length > 1, {
      what: "the second start",
    });
  });

  it("passes the options before the script to node, and those after it to the script", async () => {
    const printed = `console.log([...process.execArgv, ...process.argv.slice(2)].join(" ")); ${READY}`;
    run(printed, "web", ["--heap-growing-percent=100"]);
    await until(isReady, { what: "the ready line" });
    expect(lines).to.include("web: --heap-growing-percent=100 --own");
  });

  it("stops a process on SIGTERM, and kills one that does not end in time", async () => {
    run(`process.on("SIGTERM", () => { console.log("ends"); process.exit(0); }); ${READY}`, "polite");
    run(`process.on("SIGTERM", () => console.log("no")); ${READY}`, "stubborn");
    await until(isReady, { what: "both ready" });
    await Promise.all([supervisor.stop("polite", 5000), supervisor.stop("stubborn", 100)]);
    await until(() => lines.includes("polite: ends"), { what: "the polite end" });
    expect(lines).to.include("stubborn did not end in time and is killed");
    expect(lines.filter(line => line.includes("unexpectedly"))).to.deep.equal([]);
  });

  it("gives up at once if a process rejects its settings", async () => {
    run("process.exit(78)");
    await until(() => gaveUp !== undefined, { what: "giving up" });
    expect(gaveUp?.message).to.include("web rejects its settings");
  });

  it("gives up on a process that dies 5 times at start", async () => {
    run("process.exit(1)");
    await until(() => gaveUp !== undefined, { what: "giving up" });
    expect(gaveUp?.message).to.include("web died 5 times");
  });

  it("leaves no process behind when it is killed", async () => {
    writeFileSync(join(root, "web.mjs"), `process.on("disconnect", () => process.exit(0)); ${READY}`);
    const lib = new URL("../../script/lib/supervisor.mjs", import.meta.url).href;
    const code = `
      const { Supervisor } = await import(${JSON.stringify(lib)});
      const onSpawn = (name, pid) => process.stdout.write(String(pid));
      const print = () => process.kill(process.pid, "SIGKILL");
      const given = { root: ${JSON.stringify(root)}, env: {}, print, say() {}, onSpawn, onGiveUp() {} };
      new Supervisor(given).start({ name: "web", program: "node", args: ["web.mjs"] });`;
    const { stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", code], { encoding: "utf8" });
    const pid = Number(stdout);
    expect(pid).to.be.greaterThan(1);
    await until(() => !isOurs(pid, ["web.mjs"]), { what: "the end of the process" });
  });
});
