// runs-alone: an installation of ten processes on nine servers
// runs-long: npm test has test/store/connections/redis-failover.test.ts

import { type MongoSet, openMongoSet } from "../support/mongo-set.ts";
import type { ClusterFault } from "./fault.ts";
import { BEHIND_SENTINELS, ON_A_CLUSTER } from "./faults.ts";
import { type ClusterLab, openClusterLab, type RedisServers } from "./lab.ts";
import { describeMainJob } from "./main-job.ts";
import { openCluster, openSentinels } from "./stores.ts";
import { survive } from "./survive.ts";
import { type Row, tableOf } from "./table.ts";

const { CLUSTER_EVENTS, CLUSTER_PER_SECOND } = process.env;
/** Events under each fault; 5,000 with `npm run test:cluster`. */
const EVENTS = Number(CLUSTER_EVENTS ?? 500);
/** All faults on both kinds of stores, and a table. */
const isFullSize = CLUSTER_EVENTS !== undefined;
/** Requests a second; a slow machine that can't keep up shows its backlog in place of the faults. */
const PER_SECOND = Number(CLUSTER_PER_SECOND ?? (isFullSize ? 170 : 30));

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
      `\n${new Date().toISOString()}, ${EVENTS} events each at ${PER_SECOND} requests/s, ${minutes} minutes\n\n${tableOf(rows)}\n`,
    );
  });

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
          const row: Row = { where, title: fault.title, outcome: undefined };
          rows.push(row);
          const load = { events: EVENTS, perSecond: PER_SECOND, name: `fault-${i}` };
          await survive(lab, fault, { ...load, row, isSaid: isFullSize });
        });
      }
    });
  }

  describeOn("a Redis Cluster", () => openCluster(), ON_A_CLUSTER);
  describeOn("Redis behind Sentinels", openSentinels, BEHIND_SENTINELS);
});
