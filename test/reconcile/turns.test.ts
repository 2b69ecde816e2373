import { expect } from "chai";
import { Reconciler } from "../../src/reconcile/reconcile.ts";
import { listSetAside } from "../../src/store/sweeps/set-aside.ts";
import { readSweepProgress, type SweepStep } from "../../src/store/sweeps/sweep-turns.ts";
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
  const hourly = () => ({ ...platform.config, sweepEveryMs: 3_600_000 });
  /** As if so much time had passed that each unit is due. */
  const makeDue = () => platform.redis.del(platform.keys.sweepUnits());
  /** A client that notes the commands that are sent through it. */
  const counted = (redis: TestPlatform["redis"], commands: string[]): TestPlatform["redis"] =>
    new Proxy(redis, {
      get: (target, name) => {
        const value = Reflect.get(target, name);
        if (typeof value !== "function") return value;
        return (...args: unknown[]) => {
          commands.push(String(name));
          return value.apply(target, args);
        };
      },
    });
  const upTo = (n: number) => Array.from({ length: n }, (_, i) => i + 1);

  it("go on side by side: neither a step that never returns nor an endless one delays another @long", async () => {
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
    await makeDue();
    await reconciler.round();
    expect(handled, "to the end").to.deep.equal(upTo(7));
    const endedAt = (await readSweepProgress(platform)).get("bounded")?.ended_at_ms;
    await makeDue();
    await reconciler.round();
    expect(handled, "no new pass yet").to.deep.equal(upTo(7));
    const progress = (await readSweepProgress(platform)).get("bounded");
    expect(progress).to.include({ cursor: null, ended_at_ms: endedAt });
    expect(progress?.at_ms, "its turn came").to.be.at.least(endedAt ?? 0);
    await reconciler.stop();
    const later = { ...platform, clock: () => Date.now() + 2 * 3_600_000 };
    const another = new Reconciler(later, [step]);
    await makeDue();
    await another.round();
    expect(handled, "a new pass").to.deep.equal([...upTo(7), ...upTo(4)]);
    await another.stop();
  });

  it("stop when another process has claimed the unit, and go on once that is free @long", async () => {
    const mine = counting("mine", Number.POSITIVE_INFINITY, () => pause(5));
    const reconciler = new Reconciler(platform, [mine.step]);
    reconciler.start();
    await until(() => mine.handled.length > 3);
    const claims = platform.keys.sweepUnits();
    // Again and again, because a claim ends when it is not renewed.
    const claimIt = () => platform.redis.hset(claims, "mine", `${Date.now() + 900} another`);
    let last = -1;
    let isStill = 0;
    await until(async () => {
      await claimIt();
      isStill = mine.handled.length === last ? isStill + 1 : 0;
      last = mine.handled.length;
      return isStill > 20;
    });
    await until(() => mine.handled.length > last, { what: "turns go on when the claim has ended" });
    await reconciler.stop();
    expect(await platform.redis.hget(claims, "mine"), "free").to.match(/^\d+ $/);
  });

  it("leave everything to a process of a release that did not share the work", async () => {
    const quick = counting("quick", 1);
    const reconciler = new Reconciler(platform, [quick.step]);
    await platform.redis.set(platform.keys.reconcilerLock(), "another process");
    expect(await reconciler.round()).to.deep.equal({});
    await platform.redis.del(platform.keys.reconcilerLock());
    expect(await reconciler.round()).to.deep.equal({ quick: 1 });
    await reconciler.stop();
  });

  it("come once each SWEEP_EVERY, however many processes look, and cost those without a turn two commands", async () => {
    const one = counting("one", 1);
    const other = counting("other", 1);
    const steps = [one.step, other.step];
    const reconciler = new Reconciler({ ...platform, config: hourly() }, steps);
    expect(await reconciler.round()).to.deep.equal({ one: 1, other: 1 });
    for (let n = 0; n < 5; n++) {
      const commands: string[] = [];
      const config = hourly();
      const redis = counted(platform.redis, commands);
      const idle = new Reconciler({ ...platform, processId: `process ${n}`, config, redis }, steps);
      expect(await idle.round()).to.deep.equal({});
      expect(commands).to.deep.equal(["exists", "evalsha"]);
      await idle.stop();
    }
    expect([one.handled, other.handled]).to.deep.equal([[1], [1]]);
    await reconciler.stop();
  });

  it("cost four commands each and a claim for four of them, beside what their step does", async () => {
    const steps = upTo(17).map(n => counting(`step-${n}`, 1).step);
    const commands: string[] = [];
    const redis = counted(platform.redis, commands);
    const reconciler = new Reconciler({ ...platform, config: hourly(), redis }, steps);
    await reconciler.round();
    const count = (name: string) => commands.filter(command => command === name).length;
    // 17 claims are ended, and renewed in none: five claim some.
    expect([count("hget"), count("hset"), count("hmget"), count("evalsha")]).to.deep.equal([17, 17, 17, 22]);
    expect(commands.filter(command => command !== "eval")).to.have.length(74);
    await reconciler.stop();
  });

  it("of the parts of a step begin and go on each by itself", async () => {
    const handled: string[] = [];
    const step: SweepStep = {
      name: "divided",
      parts: () => 3,
      begin: part => async cursor => {
        const batch = Number(cursor ?? 0) + 1;
        handled.push(`${part.index}: ${batch}`);
        if (part.index === 1) throw new TypeError("a bug");
        return { repaired: 1, next: batch === 2 ? null : String(batch) };
      },
    };
    const reconciler = new Reconciler(platform, [step]);
    expect(await reconciler.round()).to.deep.equal({ divided: 4 });
    expect(handled).to.have.members(["0: 1", "0: 2", "1: 1", "2: 1", "2: 2"]);
    expect([...(await readSweepProgress(platform)).keys()]).to.have.members(["divided 1/3", "divided 3/3"]);
    expect((await listSetAside(platform)).map(({ step, item }) => [step, item])).to.deep.equal([
      ["divided", "(part 2 of 3)"],
    ]);
    await reconciler.stop();
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
    await makeDue();
    await reconciler.round();
    expect(await listSetAside(platform)).to.deep.equal([]);
    await reconciler.stop();
  });
});
