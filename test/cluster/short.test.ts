// runs-long: npm test has test/store/connections/find-redis.test.ts and test/store/connections/redis-failover.test.ts
import { type MongoSet, openMongoSet } from "../support/mongo-set.ts";
import { BOTH_STORES } from "./faults.ts";
import { type ClusterLab, openClusterLab } from "./lab.ts";
import { describeMainJob } from "./main-job.ts";
import { AWAY_MS, openCluster } from "./stores.ts";
import { survive } from "./survive.ts";

const EVENTS = 500;
const PER_SECOND = 60;

/** The short form of `npm run test:cluster`: one process of each worker, and one fault, which takes a server of each store. */
describe("a small installation on a Redis Cluster and a MongoDB of three", function () {
  this.timeout(5 * 60_000);
  let mongo: MongoSet;
  let redis: Awaited<ReturnType<typeof openCluster>>;
  let lab: ClusterLab;

  before(async () => {
    [mongo, redis] = await Promise.all([openMongoSet(), openCluster(AWAY_MS.besideOthers)]);
    lab = await openClusterLab({ redis, mongo, workersOfEach: 1 });
  });
  after(async () => {
    await lab?.close();
    await Promise.all([redis?.close(), mongo?.close()]);
  });

  describeMainJob(() => lab, { isShort: true });

  it(`${BOTH_STORES.title}: nothing is doubled, and nothing stays open`, async () => {
    const row = { where: "a Redis Cluster", title: BOTH_STORES.title, outcome: undefined };
    await survive(lab, BOTH_STORES, { events: EVENTS, perSecond: PER_SECOND, name: "both", row });
  });
});
