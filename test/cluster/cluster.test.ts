// runs-alone: an installation of nine processes on nine servers
// runs-long: npm test has test/store/redis-failover.test.ts and test/store/replicas.test.ts

import { expect } from "chai";
import { type MongoSet, openMongoSet } from "../support/mongo-set.ts";
import type { ClusterFault } from "./fault.ts";
import { BEHIND_SENTINELS, ON_A_CLUSTER } from "./faults.ts";
import { type ClusterLab, openClusterLab, type RedisServers } from "./lab.ts";
import { addEmitters, startLoad } from "./load.ts";
import { describeMainJob } from "./main-job.ts";
import type { Outcome } from "./outcome.ts";
import { openCluster, openSentinels } from "./stores.ts";
import { type Row, rowOf, tableOf } from "./table.ts";

const { CLUSTER_EVENTS } = process.env;
/** Events under each fault; 5,000 with `npm run test:cluster`. */
const EVENTS = Number(CLUSTER_EVENTS ?? 500);
/** All faults on both kinds of stores, and a table. */
const isFullSize = CLUSTER_EVENTS !== undefined;
/** Ten requests have 19 events. */
const PACE = { perSecond: isFullSize ? 210 : 40, mostOpen: EVENTS / 2 };
/** Arrivals before the fault. */
const FIRST = EVENTS / 10;

const isPart = ({ isShort }: ClusterFault) => (isFullSize ? isShort !== "only" : isShort !== undefined);

describe("an installation on stores of several servers", function () {
  // Longer than all waits of a load, which say what is missing.
  this.timeout((isFullSize ? 20 : 9) * 60_000);
  let mongo: MongoSet;
  const rows: Row[] = [];
  const startedAt = Date.now();

  before(async () => {
    mongo = await openMongoSet();
  });
  after(async () => {
    await mongo?.close();
    if (!isFullSize) return;
    const minutes = ((Date.now() - startedAt) / 60_000).toFixed(1);
    console.log(
      `\n${new Date().toISOString()}, ${EVENTS} events each, ${minutes} minutes\n\n${tableOf(rows)}\n`,
    );
  });

  function expectAll(outcome: Outcome, { mayLose = 0, mayReorder }: ClusterFault): void {
    expect(outcome.doubled, "doubled").to.deep.equal([]);
    expect(outcome.stuck, "open in the end").to.deep.equal({});
    expect(outcome.unexpected, "responses that are neither accepted nor 5xx").to.deep.equal([]);
    expect(outcome.lost, "accepted and lost").to.have.length.at.most(mayLose * outcome.accepted);
    // What was lost may be the lock of a source.
    if (outcome.lost.length === 0 && !mayReorder)
      expect(outcome.disordered, "out of order").to.deep.equal([]);
  }

  async function survive(where: string, name: string, lab: ClusterLab, fault: ClusterFault): Promise<void> {
    const ended = () => lab.processes.flatMap(({ unexpected }) => unexpected);
    const before = ended().length;
    const row: Row = { where, title: fault.title, outcome: undefined };
    rows.push(row);
    const load = startLoad(lab, await addEmitters(lab, name), PACE);
    try {
      await load.arrivedAtLeast(FIRST);
      await fault.inject(lab);
      const outcome = await load.finish(EVENTS);
      row.outcome = outcome;
      for (const line of outcome.whereabouts) console.log(`  ${line}`);
      if (Object.keys(outcome.stuck).length > 0) console.log(`  open: ${JSON.stringify(outcome.stuck)}`);
    } finally {
      load.stop();
      if (isFullSize) console.log(rowOf(row));
    }
    expectAll(row.outcome, fault);
    expect(ended().slice(before), "processes that ended by themselves").to.deep.equal([]);
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

      for (const [i, fault] of faults.filter(isPart).entries()) {
        const what = fault.mayLose ? "nothing is doubled" : "nothing is lost or doubled";
        it(`${fault.title}: ${what}, and nothing stays open`, async () => {
          await lab.use(fault.settings ?? {});
          try {
            await survive(where, `fault-${i}`, lab, fault);
          } finally {
            await lab.heal();
          }
        });
      }
    });
  }

  describeOn("a Redis Cluster", openCluster, ON_A_CLUSTER);
  if (isFullSize) describeOn("Redis behind Sentinels", openSentinels, BEHIND_SENTINELS);
});
