/**
 * Measures what emitters keep in Redis: `npm run bench:memory`. Prints bytes by kind of key after a thousand events, after a
 * burst, and once the emitter was silent for a day, and what a source costs that is idle (docs/performance.md#memory-of-an-emitter).
 */
import { emitAll } from "../src/events/emit.ts";
import { newId } from "../src/lib/ids.ts";
import { Workflows } from "../src/models/workflow.ts";
import { setScheduler } from "../src/sources/timer-scheduler.ts";
import { archiveEvents, EventArchives } from "../src/store/events/event-archive.ts";
import { openTestPlatform, type TestPlatform } from "../test/support/platform.ts";

const EVENTS = 1000;
const BURST = 100_000;
const AT_ONCE = 200;
const TIMERS = 2000;
const DAY_S = 86_400;

const platform = await openTestPlatform({ LOG_LEVEL: "silent" });
const { redis } = platform;
if (!("scan" in redis)) throw new Error("the benchmark needs one Redis, not a cluster");

async function emitter(): Promise<string> {
  const _id = newId("p");
  await Workflows(platform.mongo).insertOne({ _id, owner_id: "u_1", name: "bench", created_at: 0 });
  return _id;
}

async function emit(emitterId: string, count: number, bytes: number): Promise<void> {
  for (let first = 0; first < count; first += AT_ONCE) {
    await emitAll(
      platform,
      Array.from({ length: Math.min(AT_ONCE, count - first) }, () => ({
        emitter_id: emitterId,
        emit_id: newId("emit"),
        event: { text: "x".repeat(bytes) },
      })),
    );
  }
}

/** Bytes of each key of an emitter; `lastingS` leaves out what expires within so many seconds. */
async function bytesByKey(of: TestPlatform, emitterId: string, lastingS = 0): Promise<Map<string, number>> {
  const sizes = new Map<string, number>();
  if (!("scan" in of.redis)) return sizes;
  let cursor = "0";
  do {
    const [next, found] = await of.redis.scan(cursor, "MATCH", `*${emitterId}*`, "COUNT", 1000);
    cursor = next;
    for (const key of found) {
      const ttl = await of.redis.ttl(key);
      if (ttl >= 0 && ttl <= lastingS) continue;
      sizes.set(
        key.slice(key.lastIndexOf("}:") + 2),
        Number(await of.redis.memory("USAGE", key, "SAMPLES", 0)),
      );
    }
  } while (cursor !== "0");
  return sizes;
}

function print(title: string, sizes: Map<string, number>): void {
  const total = [...sizes.values()].reduce((sum, bytes) => sum + bytes, 0);
  const sorted = [...sizes].sort(([, a], [, b]) => b - a);
  console.log(`${title}: ${total} bytes`);
  for (const [name, bytes] of sorted) console.log(`    ${name}: ${bytes}`);
}

async function archivedBytes(emitterId: string): Promise<number> {
  const [found] = await EventArchives(platform.mongo).aggregate<{ bytes: number }>([
    { $match: { _id: emitterId } },
    { $project: { bytes: { $bsonSize: "$$ROOT" } } },
  ]);
  return found?.bytes ?? 0;
}

try {
  for (const bytes of [100, 900]) {
    const id = await emitter();
    await emit(id, EVENTS, bytes);
    print(`active, ${EVENTS} events of ${bytes} bytes`, await bytesByKey(platform, id));
    await archiveEvents(platform, [id], 0);
    print("    silent for a day", await bytesByKey(platform, id, DAY_S));
    console.log(`    in MongoDB: ${await archivedBytes(id)} bytes`);
  }
  const id = await emitter();
  await emit(id, BURST, 900);
  print(`after a burst of ${BURST} events of 900 bytes`, await bytesByKey(platform, id));
  print("    two minutes later", await bytesByKey(platform, id, 120));
  await archiveEvents(platform, [id], 0);
  print("    silent for a day", await bytesByKey(platform, id, DAY_S));

  const used = async () => Number(/used_memory:(\d+)/.exec(await redis.info("memory"))?.[1]);
  const before = await used();
  for (let n = 0; n < TIMERS; n++) {
    const timer = { interval_seconds: null, cron: "0 3 * * *", timezone: null };
    await setScheduler(platform, { _id: newId("dc"), owner_id: "u_1" }, timer);
  }
  console.log(`idle source with a timer: ${Math.round(((await used()) - before) / TIMERS)} bytes`);
  console.log("idle source without a timer: 0 bytes (it has no key)");
} finally {
  await platform.destroy();
}
