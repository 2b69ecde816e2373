import { expect } from "chai";
import { Reconciler } from "../../src/reconcile/reconcile.ts";
import { listSetAside } from "../../src/store/set-aside.ts";
import { readSweepProgress, type SweepStep } from "../../src/store/sweep-turns.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { until } from "../support/until.ts";

describe("turns of the reconciler's steps", () => {
  let platform: TestPlatform;
  beforeEach(async () => {
    platform = await openTestPlatform({ SWEEP_EVERY: "300ms" });
  });
  afterEach(() => platform.destroy());

  /** A step with batches 1, 2, 3, … up to `last`, each of which takes as long as `work`; records what it handled. */
  function counting(name: string, last: number, work: () => Promise<unknown> = async () => undefined) {
    const handled: number[] = [];
    const step: SweepStep = {
      name,
      begin: () => async cursor => {
        const batch = Number(cursor ?? 0) + 1;
        await work();
        handled.push(batch);
        return { repaired: 1, next: batch === last ? null : String(batch) };
      },
    };
    return { step, handled };
  }
  const pause = (ms: number) => new Promise(resolve => setTimeout(resolve, ms));
  const upTo = (n: number) => Array.from({ length: n }, (_, i) => i + 1);

  it("go on side by side: neither a step that never returns nor an endless one delays another", async () => {
    const hanging = counting("hanging", 2, () => new Promise(() => undefined));
    const endless = counting("endless", Number.POSITIVE_INFINITY, () => pause(5));
    const quick = counting("quick", 1);
    const reconciler = new Reconciler(platform, [hanging.step, endless.step, quick.step]);
    reconciler.start();
    await until(() => quick.handled.length >= 4 && endless.handled.length > 40);
    expect(hanging.handled).to.deep.equal([]);
    await reconciler.stop();
  });

  it("end after their budget and continue in the next turn where they stopped, in another process too", async () => {
    const long = counting("long", 60, () => pause(20));
    const one = new Reconciler(platform, [long.step]);
    expect((await one.round()).long).to.be.within(1, 59);
    await one.stop();
    const stoppedAt = long.handled.length;
    expect((await readSweepProgress(platform)).get("long")).to.include({
      cursor: String(stoppedAt),
      ended_at_ms: null,
    });
    const other = new Reconciler({ ...platform, processId: "another process" }, [long.step]);
    await until(async () => {
      await other.round();
      return (await readSweepProgress(platform)).get("long")?.cursor === null;
    });
    await other.stop();
    expect(long.handled).to.deep.equal(upTo(60));
  });

  it("of a step with bounds end after so many batches in which nothing was wrong, and rest after a pass", async () => {
    const wrong = new Set([2, 5]);
    const handled: number[] = [];
    const step: SweepStep = {
      name: "bounded",
      bounds: { batches: 3, everyMs: 3_600_000 },
      begin: () => async cursor => {
        const batch = Number(cursor ?? 0) + 1;
        handled.push(batch);
        return { repaired: wrong.has(batch) ? 1 : 0, next: batch === 7 ? null : String(batch) };
      },
    };
    const reconciler = new Reconciler(platform, [step]);
    await reconciler.round();
    expect(handled, "one of which repaired something").to.deep.equal(upTo(4));
    await reconciler.round();
    expect(handled, "to the end").to.deep.equal(upTo(7));
    const endedAt = (await readSweepProgress(platform)).get("bounded")?.ended_at_ms;
    await reconciler.round();
    expect(handled, "no new pass yet").to.deep.equal(upTo(7));
    const progress = (await readSweepProgress(platform)).get("bounded");
    expect(progress).to.include({ cursor: null, ended_at_ms: endedAt });
    expect(progress?.at_ms, "its turn came").to.be.at.least(endedAt ?? 0);
    await reconciler.stop();
    const later = { ...platform, clock: () => Date.now() + 2 * 3_600_000 };
    const another = new Reconciler(later, [step]);
    await another.round();
    expect(handled, "a new pass").to.deep.equal([...upTo(7), ...upTo(4)]);
    await another.stop();
  });

  it("stop when another process has the lock, and only the holder's go on", async () => {
    const mine = counting("mine", Number.POSITIVE_INFINITY, () => pause(5));
    const reconciler = new Reconciler(platform, [mine.step]);
    reconciler.start();
    await until(() => mine.handled.length > 3);
    await platform.redis.set(platform.keys.reconcilerLock(), "another process");
    let last = -1;
    await until(async () => {
      const isStill = mine.handled.length === last;
      last = mine.handled.length;
      await pause(400);
      return isStill;
    });
    await platform.redis.del(platform.keys.reconcilerLock());
    await until(() => mine.handled.length > last, { what: "turns go on with the lock" });
    await reconciler.stop();
    expect(await platform.redis.get(platform.keys.reconcilerLock()), "released").to.equal(null);
  });

  it("that fail as a whole are set aside, and the others go on", async () => {
    let isBroken = true;
    const broken: SweepStep = {
      name: "broken",
      begin: () => async () => {
        if (isBroken) throw new TypeError("a bug");
        return { repaired: 0, next: null };
      },
    };
    const quick = counting("quick", 1);
    const reconciler = new Reconciler(platform, [broken, quick.step]);
    expect(await reconciler.round()).to.deep.equal({ quick: 1 });
    expect((await listSetAside(platform)).map(({ step, error }) => [step, error])).to.deep.equal([
      ["broken", "TypeError: a bug"],
    ]);
    isBroken = false;
    await reconciler.round();
    expect(await listSetAside(platform)).to.deep.equal([]);
    await reconciler.stop();
  });
});
