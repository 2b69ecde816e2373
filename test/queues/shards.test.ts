import { expect } from "chai";
import { newId } from "../../src/lib/ids.ts";
import { enqueueAll, jobStates, openedQueue } from "../../src/queues/define-queue.ts";
import { deliveries, drainJobId } from "../../src/queues/deliveries.ts";
import { emissions, openPublisher } from "../../src/queues/emissions.ts";
import { countJobs, findJobState, removeJob, shardsOf } from "../../src/queues/shards.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { shardedEnv } from "../support/shards.ts";

let due_ms = 0;
const drainOf = (webhook_id: string) => ({ webhook_id, reason: "order" as const, due_ms: due_ms++ });

describe("the shards of a queue", () => {
  let platform: TestPlatform;
  beforeEach(async () => {
    platform = await openTestPlatform(await shardedEnv({ deliveries: 4, emissions: 4 }));
  });
  afterEach(() => platform.destroy());

  const queue = () => openedQueue(platform.queues, deliveries);
  const idsOnShards = async () =>
    await Promise.all(
      shardsOf(queue()).map(async shard => (await shard.getJobs()).map(job => job.data.webhook_id as string)),
    );

  it("have keys of their own, of which the first ones are those of the queue", () => {
    const prefix = platform.config.redisPrefix;
    expect(shardsOf(queue()).map(shard => shard.toKey("wait"))).to.deep.equal([
      `{${prefix}:deliveries}:deliveries:wait`,
      ...[1, 2, 3].map(n => `{${prefix}:deliveries.${n}}:deliveries.${n}:wait`),
    ]);
    expect(shardsOf(openedQueue(platform.queues, { name: "deletions" }))).to.have.length(1);
  });

  it("share the jobs by webhook", async () => {
    const webhooks = Array.from({ length: 40 }, (_, n) => newId("wh", n));
    const jobs = [...webhooks, ...webhooks].map(drainOf);
    await enqueueAll(platform.queues, deliveries.jobs.drain, jobs);
    const found = await idsOnShards();
    expect(found.flat()).to.have.members(jobs.map(job => job.webhook_id));
    for (const ids of found) expect(ids).to.have.length.above(0);
    const shardsOfOne = webhooks.map(id => found.filter(ids => ids.includes(id)).length);
    expect(new Set(shardsOfOne)).to.deep.equal(new Set([1]));
  });

  it("keep the emissions of one emitter together, published at the same time as those of others", async () => {
    const publish = openPublisher(platform.queues);
    const emitters = Array.from({ length: 12 }, (_, n) => `p_${String(n).padStart(16, "0")}`);
    await Promise.all(
      emitters.flatMap(emitter_id =>
        [1, 2].map(n => publish({ emitter_id, emit_id: `e${n}`, event: n, account_id: "u_1" })),
      ),
    );
    const held = await Promise.all(
      shardsOf(openedQueue(platform.queues, emissions)).map(async shard => {
        const jobs = await shard.getJobs();
        return jobs.flatMap(job => job.data.emissions ?? [job.data]).map(one => one.emitter_id as string);
      }),
    );
    for (const emitter of emitters) {
      expect(held.map(ids => ids.filter(id => id === emitter).length).filter(Boolean)).to.deep.equal([2]);
    }
  });

  it("are all looked at for a job, a count and a removal", async () => {
    const job = drainOf("wh_1");
    const jobId = drainJobId(job);
    const shards = shardsOf(queue());
    for (const shard of shards) {
      await shard.add("drain", job, { jobId });
      expect(await jobStates(platform, deliveries, [jobId, "other"])).to.deep.equal(["live", "absent"]);
      expect(await findJobState(queue(), jobId)).to.equal("waiting");
      expect(await countJobs(queue(), "waiting", "prioritized")).to.equal(1);
      await removeJob(queue(), jobId);
      expect(await findJobState(queue(), jobId)).to.equal("unknown");
    }
  });
});
