import { createRedisBackend, Job, type JobsOptions, Queue, type RedisQueueBackend, Worker } from "bullmq";
import { expect } from "chai";
import { newId } from "../../src/lib/ids.ts";
import { leanBackend } from "../../src/queues/backend.ts";
import { openWorkerRedis, type RedisClient, whenReady } from "../../src/store/connections/redis.ts";
import { singleServer } from "../../src/store/connections/redis-url.ts";
import { openOwnRedis } from "../support/own-stores.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { until } from "../support/until.ts";

const LOCK_MS = 30_000;
const NAME = "compared";
/** BullMQ's stream of events, and its counter of jobs, which say nothing about the jobs. */
const IS_LEFT_OUT = /:(?:events|id)$/;

/** What a test does to a queue through one of the backends. */
interface Compared {
  queue: Queue;
  add(id: string, options?: JobsOptions): Promise<unknown>;
  /** Takes the next job. Returns its id and its payload, and whether a delayed job waits. */
  take(): Promise<unknown>;
  /** Waits until a worker is to look for a job. */
  wait(): Promise<unknown>;
  /** Finishes the job that was taken last, and takes the next one if `fetches`. */
  finish(fetches?: boolean): Promise<unknown>;
}

describe("the backend of workers", () => {
  let platform: TestPlatform;
  beforeEach(async () => {
    platform = await openTestPlatform();
  });
  afterEach(() => platform.destroy());

  /** Does the same to a queue through BullMQ's own backend and through ours; returns what was seen and what Redis holds. */
  async function inBoth(act: (compared: Compared) => Promise<unknown>) {
    const results = [];
    for (const factory of [createRedisBackend, leanBackend(platform.redis, LOCK_MS)]) {
      const prefix = `{${newId("dc")}}`;
      const options = { connection: platform.redis, prefix, skipWaitingForReady: true };
      const queue = new Queue(NAME, options);
      const given = { ...options, lockDuration: LOCK_MS } as never;
      const backend = factory(NAME, given, { withBlockingConnection: true }) as RedisQueueBackend;
      backend.on("error", () => undefined);
      try {
        const seen = await act(using(queue, backend));
        results.push({ seen, stored: await storedUnder(prefix) });
      } finally {
        await backend.close();
        await queue.close();
      }
    }
    return results;
  }

  function using(queue: Queue, backend: RedisQueueBackend): Compared {
    let taken: Job | undefined;
    const note = ([fields, id, , dueMs]: unknown[] = []) => {
      const job = fields ? Job.fromJSON(queue, fields as never, String(id)) : undefined;
      taken = job ?? taken;
      return { id: id || null, isDelayed: Number(dueMs) > 0, data: job?.data, priority: job?.priority };
    };
    return {
      queue,
      add: (id, options = {}) => queue.add("job", { id }, { jobId: id, removeOnComplete: true, ...options }),
      wait: async () => await backend.waitForJob(1),
      take: async () => note(await backend.moveToActive("token")),
      finish: async (fetches = true) => {
        if (!taken) throw new Error("no job was taken");
        const done = await backend.moveToCompleted(taken, null, true, "token", fetches).catch(String);
        return typeof done === "string" ? done : note((done.result as unknown[]) || []);
      },
    };
  }

  /** Every key and its value, without times. */
  async function storedUnder(prefix: string): Promise<Record<string, unknown>> {
    const { redis } = platform;
    const stored: Record<string, unknown> = {};
    for (const key of (await redis.keys(`${prefix}*`)).filter(name => !IS_LEFT_OUT.test(name)).sort()) {
      const name = key.slice(prefix.length);
      const type = await redis.type(key);
      if (type === "hash") {
        const { timestamp, processedOn, finishedOn, ...fields } = await redis.hgetall(key);
        stored[name] = { ...fields, isStarted: processedOn !== undefined };
      }
      if (type === "list") stored[name] = await redis.lrange(key, 0, -1);
      if (type === "zset") stored[name] = await redis.zrange(key, "0", "-1");
      if (type === "set") stored[name] = await redis.smembers(key);
      if (type === "string") stored[name] = (await redis.pttl(key)) > 0 ? "expires" : await redis.get(key);
    }
    const marker = `:${NAME}:marker`;
    // The marker notifies a worker. BullMQ's own is also there when nothing waits.
    const waits = stored[`:${NAME}:wait`] ?? stored[`:${NAME}:prioritized`];
    if (!waits) stored[marker] = ((stored[marker] as string[] | undefined) ?? []).filter(isDelay);
    return stored;
  }
  const isDelay = (member: string) => member === "1";

  const HAPPENINGS: Record<string, (compared: Compared) => Promise<unknown>> = {
    "plain jobs, in order": async ({ add, take, finish }) => {
      await Promise.all([add("a"), add("b"), add("c")]);
      return [await take(), await finish(), await finish(false), await take()];
    },
    "a job that is added after another was taken at the end of one": async ({ add, take, wait, finish }) => {
      await add("a");
      const seen = [await wait(), await take(), await take()];
      await add("b");
      seen.push(await finish());
      await add("c");
      return [...seen, await wait(), await take()];
    },
    "prioritized jobs after plain ones": async ({ add, take, finish }) => {
      await add("later", { priority: 9 });
      await add("soon", { priority: 2 });
      await add("now");
      return [await take(), await finish(), await finish()];
    },
    "a delayed job that is due, and one that is not": async ({ queue, add, take }) => {
      await add("due", { delay: 3_600_000, priority: 3 });
      await (await Job.fromId(queue, "due"))?.changeDelay(1);
      await add("far", { delay: 3_600_000 });
      await until(async () => ((await Job.fromId(queue, "due"))?.timestamp ?? 0) + 5 < Date.now());
      return [await take()];
    },
    "an empty queue with a delayed job": async ({ add, take }) => {
      await add("far", { delay: 3_600_000 });
      return await take();
    },
    "a paused queue": async ({ queue, add, take }) => {
      await add("a");
      await queue.pause();
      return await take();
    },
    "a queue of which one job may run at once": async ({ queue, add, take, finish }) => {
      await queue.setGlobalConcurrency(1);
      await Promise.all([add("a"), add("b")]);
      const first = await take();
      return [first, await finish(), await finish()];
    },
    "a queue with a rate limit": async ({ queue, add, take }) => {
      await queue.setGlobalRateLimit(1, 60_000);
      await Promise.all([add("a"), add("b")]);
      return await take();
    },
    "a job whose lock was lost": async ({ queue, add, take, finish }) => {
      await add("a");
      await take();
      await platform.redis.del(`${queue.toKey("a")}:lock`);
      return await finish();
    },
    "a job that another worker has locked": async ({ queue, add, take, finish }) => {
      await add("a");
      await take();
      await platform.redis.set(`${queue.toKey("a")}:lock`, "another");
      return await finish();
    },
    "a job that was removed": async ({ queue, add, take, finish }) => {
      await add("a");
      await take();
      await platform.redis.del(queue.toKey("a"));
      return await finish();
    },
    "a job with a deduplication id": async ({ add, take, finish }) => {
      await add("a", { deduplication: { id: "same" } });
      return [await take(), await finish()];
    },
    "a job that is marked as stalled": async ({ queue, add, take, finish }) => {
      await add("a");
      await take();
      await platform.redis.sadd(queue.toKey("stalled"), "a");
      return await finish();
    },
  };
  for (const [what, act] of Object.entries(HAPPENINGS)) {
    it(`does with ${what} what BullMQ's own does`, async () => {
      const [theirs, ours] = await inBoth(act);
      expect(ours).to.deep.equal(theirs);
      expect(JSON.stringify(theirs?.seen), "what the test saw").to.have.length.above(2);
    });
  }

  it("asks for another job only if one waits, and is notified of what is added after that", async () => {
    // The commands of this Redis are counted, so it serves this test alone.
    const server = await openOwnRedis();
    const redis = openWorkerRedis(singleServer(server.url));
    await whenReady(redis, 5000);
    const options = { connection: redis, prefix: "{lean}" };
    const queue = new Queue(NAME, options);
    const done: unknown[] = [];
    const worker = new Worker(
      NAME,
      async ({ id }) => void done.push(id),
      { ...options, concurrency: 8, skipLockRenewal: true },
      leanBackend(redis, LOCK_MS),
    );
    worker.on("error", () => undefined);
    try {
      await worker.waitUntilReady();
      const commands = await commandsDuring(redis, async () => {
        for (let i = 0; i < 20; i += 1) {
          await queue.add("job", {}, { removeOnComplete: true });
          await until(() => done.length === i + 1);
        }
      });
      // Each job: it is added, waited for, taken and finished. BullMQ's own: 7.
      expect(commands / 20).to.be.below(5.5);
    } finally {
      await worker.close();
      await queue.close();
      redis.disconnect();
      await server.close();
    }
  });

  /** Counts the scripts and waits that a Redis was asked for, over all connections. */
  async function commandsDuring(redis: RedisClient, act: () => Promise<void>): Promise<number> {
    const count = async () => {
      const stats = await redis.info("commandstats");
      return [...stats.matchAll(/cmdstat_(?:evalsha|bzpopmin):calls=(\d+)/g)].reduce(
        (sum, [, n]) => sum + Number(n),
        0,
      );
    };
    const before = await count();
    await act();
    return (await count()) - before;
  }
});
