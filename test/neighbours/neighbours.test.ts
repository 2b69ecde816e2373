// runs-alone: it compares latencies
// runs-long: npm test has test/queues/fair-order.test.ts and the limits of an account
import { expect } from "chai";
import { FLOODS } from "./floods.ts";
import { type Experience, experienceOf } from "./measure.ts";
import { openTown, type Town } from "./town.ts";

/** `npm run test:neighbours` runs every flood at its full size; `npm test` a few of them at a tenth. */
const isFullSize = process.env.NEIGHBOURS === "full";
/** A regular expression of the floods' titles. */
const ONLY = new RegExp(process.env.NEIGHBOURS_ONLY ?? "");
const SHARE = isFullSize ? 1 : 0.1;
const EVENTS = isFullSize ? { count: 40, everyMs: 1000 } : { count: 15, everyMs: 200 };
const QUIET_EVENTS = isFullSize ? { count: 20, everyMs: 500 } : EVENTS;

/** What B's latencies may grow to; beside a tenth of a flood, few events on any machine say nothing about a ratio. */
const RATIO = isFullSize ? { p50: 2, p95: 4 } : { p50: Infinity, p95: Infinity };
/** Latencies below this are as good as none: a ratio of two of them is noise. */
const FLOOR_MS = 25;
/** What each process and Redis may hold. */
const MEMORY_MB = { process: 512, redis: 512 };

const ratio = (one: number, quiet: number) => one / Math.max(quiet, FLOOR_MS);

describe("beside a noisy neighbour", function () {
  this.timeout(isFullSize ? 600_000 : 120_000);
  let town: Town | undefined;
  /** At full size each flood has an installation of its own: what is left of the one before would make B's quiet loud. */
  const settled = async () => {
    if (town && !isFullSize) return town;
    await town?.close();
    town = undefined;
    town = await openTown();
    await experienceOf(town, 10, 50);
    return town;
  };
  after(async () => {
    await town?.close();
  });

  const floods = FLOODS.filter(({ title, isShort }) => (isFullSize || isShort) && ONLY.test(title));
  for (const { title, prepare } of floods) {
    it(`${isFullSize ? "delivers in time" : "loses nothing"}: ${title}`, async () => {
      const town = await settled();
      const start = await prepare(town, SHARE);
      const quiet: Experience = await experienceOf(town, QUIET_EVENTS.count, QUIET_EVENTS.everyMs);
      const stop = await start();
      // Until the flood has risen.
      await experienceOf(town, 3, EVENTS.everyMs);
      const beside = await experienceOf(town, EVENTS.count, EVENTS.everyMs);
      const memory = await town.memory();
      const statuses = await stop();
      const line = [
        `quiet p50 ${quiet.p50} p95 ${quiet.p95} ms`,
        `beside p50 ${beside.p50} p95 ${beside.p95} ms`,
        `x${ratio(beside.p50, quiet.p50).toFixed(1)} x${ratio(beside.p95, quiet.p95).toFixed(1)}`,
        `${beside.lost} of ${beside.sent} lost`,
        `${memory.name} ${memory.process.toFixed(0)} MB, Redis ${memory.redis.toFixed(0)} MB`,
        JSON.stringify(statuses ?? null),
      ].join("; ");
      if (isFullSize || process.env.NEIGHBOURS_ONLY) console.log(`      ${line}`);
      expect(beside.lost, `lost (${line})`).to.equal(0);
      expect(ratio(beside.p50, quiet.p50), `p50 (${line})`).to.be.at.most(RATIO.p50);
      expect(ratio(beside.p95, quiet.p95), `p95 (${line})`).to.be.at.most(RATIO.p95);
      expect(memory.process, `memory (${line})`).to.be.at.most(MEMORY_MB.process);
      expect(memory.redis, `memory of Redis (${line})`).to.be.at.most(MEMORY_MB.redis);
    });
  }
});
