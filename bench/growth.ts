import { Queue } from "bullmq";
import { Redis } from "ioredis";
import mongoose from "mongoose";
import { deliveries } from "../src/queues/deliveries.ts";
import { queuePrefix } from "../src/queues/open-queues.ts";
import type { Stores } from "./stores.ts";

// Creates W5's data. Headwater itself creates one row or job of each kind, which is then copied: the copies have
// today's form, and a million of them take seconds.

const BATCH = 10_000;
const SIX_HOURS_MS = 6 * 3_600_000;

/** Copies of one delayed job, a millisecond apart. KEYS: job, delayed set. ARGV: job id, first number, last number. */
const COPY_DELAYED = `
local fields = redis.call("HGETALL", KEYS[1])
local score = tonumber(redis.call("ZSCORE", KEYS[2], ARGV[1]))
for i = tonumber(ARGV[2]), tonumber(ARGV[3]) do
  redis.call("HSET", KEYS[1] .. "-" .. i, unpack(fields))
  redis.call("ZADD", KEYS[2], score + i * 4096, ARGV[1] .. "-" .. i)
end`;

/** Adds delayed jobs to the `deliveries` queue, like retries of the next hours. */
export async function growDelayed(stores: Stores, redisPrefix: string, count: number): Promise<void> {
  const prefix = queuePrefix(redisPrefix, deliveries.name);
  const queue = new Queue(deliveries.name, { connection: { url: stores.redisUrl }, prefix });
  const redis = new Redis(stores.redisUrl);
  try {
    const jobId = "dlv_bench-1";
    const job = { delivery_id: "dlv_bench", webhook_id: "wh_bench", generation: 1 };
    const { name, options } = deliveries.jobs["next-attempt"];
    await queue.add(name, job, { ...options, jobId, delay: SIX_HOURS_MS });
    for (let first = 1; first < count; first += BATCH) {
      const last = Math.min(first + BATCH, count) - 1;
      await redis.eval(COPY_DELAYED, 2, queue.toKey(jobId), queue.toKey("delayed"), jobId, first, last);
    }
    await whenRewritten(redis);
  } finally {
    await queue.close();
    redis.disconnect();
  }
}

const POLL_MS = 200;

/** Waits until Redis has rewritten its AOF, which so many commands make it do, and which must not count as load. */
async function whenRewritten(redis: Redis): Promise<void> {
  do {
    await new Promise(resolve => setTimeout(resolve, POLL_MS));
  } while (/aof_rewrite_(in_progress|scheduled):1/.test(await redis.info("persistence")));
}

/** Adds subscriptions of other webhooks, ten for each emitter; the emitters are the sources of `growSources`. */
export function growSubscriptions(stores: Stores, count: number): Promise<void> {
  return copyRows(stores, "subscriptions", count, number => ({
    _id: numbered("sub_", number),
    emitter_id: numbered("dc_", Math.floor(number / 10)),
    listener_id: numbered("wh_", number % 1000),
  }));
}

/** Adds HTTP sources with endpoints. */
export function growSources(stores: Stores, count: number): Promise<void> {
  return copyRows(stores, "sources", count, number => ({
    _id: numbered("dc_", number),
    name_slug: `bench-${number}`,
    endpoint: numbered("bench", number),
  }));
}

export const numbered = (prefix: string, number: number) => `${prefix}${String(number).padStart(16, "0")}`;

async function copyRows(
  stores: Stores,
  collection: string,
  count: number,
  own: (number: number) => Record<string, string>,
): Promise<void> {
  const connection = await mongoose.createConnection(stores.mongodbUrl).asPromise();
  try {
    const rows = connection.collection(collection);
    const row = await rows.findOne({});
    for (let first = 0; first < count; first += BATCH) {
      const length = Math.min(BATCH, count - first);
      await rows.insertMany(
        Array.from({ length }, (_, index) => ({ ...row, ...own(first + index) })) as never,
        { ordered: false },
      );
    }
  } finally {
    await connection.close();
  }
}
