// runs-alone: two installations of eight processes on seven servers each

import { expect } from "chai";
import { type MongoSet, openMongoSet } from "../support/mongo-set.ts";
import { BEHIND_SENTINELS, type ClusterFault, ON_A_CLUSTER } from "./faults.ts";
import { type ClusterLab, openClusterLab, type RedisServers } from "./lab.ts";
import { addEmitters, type Outcome, startLoad } from "./load.ts";
import { describeMainJob } from "./main-job.ts";
import { openCluster, openSentinels } from "./stores.ts";
import { type Row, tableOf } from "./table.ts";

/** Events under each fault; 5,000 with `npm run test:cluster`. */
const EVENTS = Number(process.env.CLUSTER_EVENTS ?? 200);
const isFullSize = EVENTS >= 5000;
const PACE = { perSecond: isFullSize ? 120 : 60, mostOpen: EVENTS / 2 };
/** Arrivals before the fault. */
const FIRST = EVENTS / 10;

describe("an installation on stores of several servers", function () {
  // Longer than all waits of a load, which say what is missing.
  this.timeout((isFullSize ? 20 : 9) * 60_000);
  let mongo: MongoSet;
  const rows: Row[] = [];

  before(async () => {
    mongo = await openMongoSet();
  });
  after(async () => {
    await mongo?.close();
    if (isFullSize) console.log(`\n${tableOf(rows)}\n`);
  });

  function expectAll({ lost, doubled, stuck }: Outcome, { mayLose }: ClusterFault): void {
    expect(doubled, "doubled").to.deep.equal([]);
    expect(stuck, "open in the end").to.deep.equal({});
    if (!mayLose) expect(lost, "accepted and lost").to.deep.equal([]);
  }

  function describeOn(
    where: string,
    open: () => Promise<RedisServers & { close(): Promise<void> }>,
    faults: ClusterFault[],
  ): void {
    describe(where, () => {
      let redis: Awaited<ReturnType<typeof open>>;
      let lab: ClusterLab;
      before(async () => {
        redis = await open();
        lab = await openClusterLab({ redis, mongo });
      });
      after(async () => {
        await lab?.close();
        await redis?.close();
      });

      describeMainJob(() => lab);

      for (const [i, fault] of faults.filter(({ isShort }) => isShort || isFullSize).entries()) {
        const what = fault.mayLose ? "nothing is doubled" : "nothing is lost or doubled";
        it(`${fault.title}: ${what}, and nothing stays open`, async () => {
          const load = startLoad(lab, await addEmitters(lab, `fault-${i}`), PACE);
          try {
            await load.arrivedAtLeast(FIRST);
            await fault.inject(lab);
            const outcome = await load.finish(EVENTS);
            rows.push({ where, title: fault.title, outcome });
            expectAll(outcome, fault);
          } finally {
            load.stop();
          }
        });
      }
    });
  }

  describeOn("a Redis Cluster", openCluster, ON_A_CLUSTER);
  describeOn("Redis behind Sentinels", openSentinels, BEHIND_SENTINELS);
});
