/**
 * Prints, as JSON, the files of src/ and workers/ whose functions run on each of four ways through the system; `npm run house` counts
 * them. Each way is gone several times with V8's precise coverage, all of the system in this process. A function is on the way if it
 * is called each time, and more often than while the system idles for as long. Code in sandboxes and other processes is not seen.
 */
import { Session } from "node:inspector/promises";
import { setTimeout as delay } from "node:timers/promises";
import { openedQueue } from "../src/queues/define-queue.ts";
import { deliveries } from "../src/queues/deliveries.ts";
import { shardsOf } from "../src/queues/shards.ts";
import type { Api } from "../test/support/api.ts";
import { type Receiver, startReceiver } from "../test/support/receiver.ts";
import { type System, startSystem } from "../test/support/system.ts";
import { until } from "../test/support/until.ts";

const REPEATS = 5;
/** What is remembered or compiled at the first uses is no part of the way. */
const WARM_UPS = 2;
/** What is still written after the last thing that can be seen from outside. */
const SETTLE_MS = 700;

/** More than the longest time between two probes of the stores. */
const STEP_MS = 1500;

type Calls = Map<string, number>;

const session = new Session();
const ROOT = new URL("..", import.meta.url).href;

/** Returns how often each function was called since the last look, by its file, name and place. */
async function takeCalls(): Promise<Calls> {
  const calls: Calls = new Map();
  const { result } = await session.post("Profiler.takePreciseCoverage");
  for (const { url, functions } of result) {
    const file = url.startsWith(ROOT) ? url.slice(ROOT.length).replace(/\?.*$/, "") : "";
    if (!/^(src|workers)\//.test(file)) continue;
    for (const { functionName, ranges } of functions) {
      const [{ startOffset = 0, count = 0 } = {}] = ranges;
      // At the start of a file is the file itself, which runs when it is loaded; `__name` is the compiler's.
      if (count === 0 || startOffset === 0 || functionName === "__name") continue;
      calls.set(`${file} ${functionName} ${startOffset}`, count);
    }
  }
  return calls;
}

/**
 * Returns the files of the functions that every look saw, those that the idle system calls too only if the look saw at least two
 * more calls: what is called every so often may be called once more in one look than in another.
 */
function filesOnTheWay(looks: Calls[], idle: Calls[]): string[] {
  const [first = new Map()] = looks;
  const functions = [...first.keys()].filter(one => {
    const least = Math.min(...looks.map(calls => calls.get(one) ?? 0));
    const most = Math.max(...idle.map(calls => calls.get(one) ?? 0));
    return most === 0 ? least > 0 : least > most + 1;
  });
  return [...new Set(functions.map(one => one.split(" ")[0] ?? ""))].sort();
}

/** `go` is looked at, and `prepare` is done before the look; both are told how many times the way was begun. */
interface Way {
  prepare(count: number): Promise<void>;
  go(count: number): Promise<void>;
}

async function filesOf({ prepare, go }: Way): Promise<string[]> {
  const looks: Calls[] = [];
  const idle: Calls[] = [];
  for (let count = 1; count <= WARM_UPS + REPEATS; count++) {
    await prepare(count);
    const startedAt = performance.now();
    await takeCalls();
    await go(count);
    await delay(SETTLE_MS);
    looks.push(await takeCalls());
    await delay(performance.now() - startedAt);
    idle.push(await takeCalls());
    // So that nothing that runs every so often keeps step with the looks.
    await delay(Math.random() * STEP_MS);
  }
  return filesOnTheWay(looks.slice(WARM_UPS), idle.slice(WARM_UPS));
}

/** A webhook of its own, and what of it can be awaited. */
interface Listener {
  id: string;
  /** Waits until its newest delivery is delivered, and it has so many. */
  delivered(count: number): Promise<void>;
  /** Waits until it has so many deliveries, in any state. */
  recorded(count: number): Promise<void>;
}

async function listenTo(emitterId: string, { system, api, receiver }: Place): Promise<Listener> {
  const { id } = await api.createWebhook(receiver.url);
  await api.subscribe(emitterId, id);
  const has = (count: number, state: object) =>
    until(
      async () => {
        const found = system.web.mongo.collection("deliveries").countDocuments({ webhook_id: id, ...state });
        return (await found) === count;
      },
      { what: `${count} deliveries`, timeoutMs: 20_000 },
    );
  return {
    id,
    delivered: async count => void (await has(count, { state: "delivered" })),
    recorded: async count => void (await has(count, {})),
  };
}

interface Place {
  system: System;
  api: Api;
  receiver: Receiver;
}

/** A request to a source's endpoint, until its delivery is recorded. */
async function requestWay(place: Place): Promise<Way> {
  const source = await place.api.createSource({
    component_code: `export default { name: "Ways", version: "0.0.1", key: "ways", props: { http: "$.interface.http" },
      run(event) { this.$emit(event.body); } };`,
  });
  const listener = await listenTo(source.id, place);
  const endpoint = source.configured_props.http?.endpoint_url ?? "";
  return {
    prepare: async () => {},
    async go(count) {
      const headers = { "content-type": "application/json" };
      await (await fetch(endpoint, { method: "POST", headers, body: '{"hello":"world"}' })).text();
      await listener.delivered(count);
    },
  };
}

/** `POST /sources` with code that is not stored yet. */
const createWay = ({ api }: Place): Way => ({
  prepare: async () => {},
  async go(count) {
    const component_code = `export default { name: "Ways", version: "0.0.1", key: "ways-${count}",
      props: { http: "$.interface.http" }, run() {} };`;
    await api.createSource({ component_code });
  },
});

/** An event's first attempt, from its job in the queue until it is recorded. */
async function firstAttemptWay(place: Place): Promise<Way> {
  const { publish, listener } = await openPublisher(place);
  const queues = shardsOf(openedQueue(place.system.web.queues, deliveries));
  return {
    async prepare() {
      for (const queue of queues) await queue.pause();
      await publish();
      const waits = async () => (await Promise.all(queues.map(queue => queue.count()))).some(n => n > 0);
      await until(waits, { what: "the job", timeoutMs: 20_000 });
      await delay(SETTLE_MS);
    },
    async go(count) {
      for (const queue of queues) await queue.resume();
      await listener.delivered(count);
    },
  };
}

/** The second attempt after a 500, from before it is due until it is recorded. */
async function retryWay(place: Place): Promise<Way> {
  const { publish, listener } = await openPublisher(place);
  return {
    async prepare(count) {
      place.receiver.script(500, 200);
      await publish();
      await listener.recorded(count);
      await delay(SETTLE_MS);
    },
    go: count => listener.delivered(count),
  };
}

async function openPublisher(place: Place): Promise<{ publish: () => Promise<void>; listener: Listener }> {
  const { id } = await place.api.expect(201, "POST", "/workflows", { body: { name: "Ways" } });
  const publish = () =>
    place.api.expect(202, "POST", `/workflows/${id}/events`, { body: { event: "hello" } });
  return { publish, listener: await listenTo(id, place) };
}

session.connect();
await session.post("Profiler.enable");
// Before anything is compiled for good: functions that are inlined are not counted.
await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
const system = await startSystem({
  SWEEP_EVERY: "1h",
  DELIVERY_RETRY_SCHEDULE: "3s",
  RATE_LIMITS: "api:0",
});
const receiver = await startReceiver();
try {
  const place = { system, receiver, api: await system.user({ plan: "paid" }) };
  const ways = {
    request: await filesOf(await requestWay(place)),
    create: await filesOf(createWay(place)),
    firstAttempt: await filesOf(await firstAttemptWay(place)),
    retry: await filesOf(await retryWay(place)),
  };
  console.log(JSON.stringify(ways));
} finally {
  await receiver.close();
  await system.stop();
}
