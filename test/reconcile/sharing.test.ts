// runs-long: npm test has test/store/sweeps/sweep-turns.test.ts and test/reconcile/parts.test.ts, in one process
import { expect } from "chai";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { until } from "../support/until.ts";
import { environmentOf, spawnProgram, type WorkerProcess, whenReady } from "../workers/worker-process.ts";

/** Units of test/reconcile/sharing-process.ts: each has work for more than a turn. */
const UNITS = [0, 1, 2, 3, 4, 5, 6, 7].map(n => `step-${n}.0`).concat("step-8.0", "step-8.1");

interface Note {
  what: string;
  unit: string;
  by: string;
}

describe("the reconciler's work among processes", () => {
  let platform: TestPlatform;
  let processes: WorkerProcess[] = [];
  beforeEach(async () => {
    platform = await openTestPlatform({ SWEEP_EVERY: "2s" });
  });
  afterEach(async () => {
    for (const one of processes) {
      one.kill("SIGKILL");
      await one.ended;
    }
    processes = [];
    await platform.destroy();
  });

  async function start(): Promise<{ worker: WorkerProcess; id: string }> {
    const env = { ...environmentOf(platform.config), SWEEP_EVERY: "2s" };
    const worker = spawnProgram(["--import", "tsx", "test/reconcile/sharing-process.ts"], env);
    processes.push(worker);
    await whenReady(worker);
    const line = worker
      .output()
      .split("\n")
      .find(text => text.includes('"msg":"ready"'));
    return { worker, id: JSON.parse(line ?? "{}").process_id };
  }

  async function notes(): Promise<Note[]> {
    const lines = await platform.redis.lrange(`${platform.config.redisPrefix}:notes`, 0, -1);
    return lines.map(line => {
      const [what = "", unit = "", by = ""] = line.split(" ");
      return { what, unit, by };
    });
  }

  const begun = (all: Note[]) => all.filter(({ what }) => what === "begin");
  const unitsOf = (all: Note[], by: string) =>
    new Set(begun(all).flatMap(note => (note.by === by ? [note.unit] : [])));

  /** What a process is at, as far as it has noted. */
  function underWay(all: Note[]): Map<string, string> {
    const open = new Map<string, string>();
    for (const { what, unit, by } of all) {
      if (what === "begin") open.set(unit, by);
      else if (open.get(unit) === by) open.delete(unit);
    }
    return open;
  }

  /** Returns the batches that began while another process was at the same unit, but for one that was interrupted there. */
  function overlaps(all: Note[], interrupted?: string): Note[] {
    const open = new Map<string, string>();
    const found: Note[] = [];
    for (const { what, unit, by } of all) {
      const at = open.get(unit);
      if (what === "end" && at === by) open.delete(unit);
      if (what !== "begin") continue;
      if (at !== undefined && at !== interrupted) found.push({ what, unit, by });
      open.set(unit, by);
    }
    return found;
  }

  /** The units that a process has claimed, as the notes name them. */
  async function claimedBy(id: string): Promise<string[]> {
    const claims = Object.entries(await platform.redis.hgetall(platform.keys.sweepUnits()));
    const names = claims.flatMap(([name, claim]) => (claim.endsWith(` ${id}`) ? [name] : []));
    return names.map(name => {
      const [step, part = "1/1"] = name.split(" ");
      return `${step}.${Number.parseInt(part, 10) - 1}`;
    });
  }

  const hasAll = (all: Note[]) => new Set(begun(all).map(({ unit }) => unit)).size === UNITS.length;

  it("is shared: each has turns, all units have theirs, and none is at work in two at once", async () => {
    const [one, other] = await Promise.all([start(), start()]);
    const all = await until(
      async () => {
        const found = await notes();
        const both = unitsOf(found, one.id).size > 1 && unitsOf(found, other.id).size > 1;
        return both && hasAll(found) && found.length > 400 && found;
      },
      { what: "turns of both" },
    );
    expect([...new Set(all.map(({ unit }) => unit))]).to.have.members(UNITS);
    expect(overlaps(all)).to.deep.equal([]);
  });

  for (const signal of ["SIGKILL", "SIGSTOP"] as const) {
    it(`waits for a process after ${signal} only where it was, until its claims have ended`, async () => {
      const [one, other] = await Promise.all([start(), start()]);
      await until(async () => {
        const found = await notes();
        return unitsOf(found, one.id).size > 1 && unitsOf(found, other.id).size > 1;
      });
      await until(async () => [...underWay(await notes()).values()].includes(one.id), { what: "at work" });
      one.worker.kill(signal);
      if (signal === "SIGKILL") await one.worker.ended;
      const left = await claimedBy(one.id);
      const before = await notes();
      expect(left).not.to.deep.equal([]);
      const since = await until(
        async () => {
          const found = (await notes()).slice(before.length);
          const done = unitsOf(found, other.id);
          return UNITS.every(unit => done.has(unit)) && found;
        },
        { what: "the other does everything" },
      );
      const first = begun(since).findIndex(({ unit }) => left.includes(unit));
      expect(first, "others went on before").to.be.above(0);
      expect(overlaps([...before, ...since], one.id)).to.deep.equal([]);
      if (signal === "SIGKILL") return;
      one.worker.kill("SIGCONT");
      await until(async () => unitsOf((await notes()).slice(before.length), one.id).size > 1, {
        what: "it is at work again",
      });
      expect(overlaps(await notes(), one.id).filter(({ by }) => by === one.id)).to.deep.equal([]);
    });
  }

  it("goes on at once when a process stops", async () => {
    const [one, other] = await Promise.all([start(), start()]);
    await until(async () => unitsOf(await notes(), one.id).size > 1);
    one.worker.kill("SIGTERM");
    expect(await one.worker.ended).to.equal(0);
    expect(await claimedBy(one.id)).to.deep.equal([]);
    const before = (await notes()).length;
    await until(async () => unitsOf((await notes()).slice(before), other.id).size === UNITS.length);
    expect(overlaps(await notes())).to.deep.equal([]);
  });
});
