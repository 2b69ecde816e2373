import { splitList } from "./lib/lists.ts";
import { durationMs } from "./lib/time.ts";
import { LIMITS } from "./limits/catalogue.ts";
import { consumedQueues } from "./queues/index.ts";

/** A longer timer would fire at once: Node counts milliseconds in 31 bits. */
const LONGEST_MS = 24 * 86_400_000;

/** An entry of a list: its default, and how its text is read. `read` throws an error that says what the text must be. */
interface Entry<V extends number | undefined = number | undefined> {
  value: V;
  read: (text: string) => number;
}

type Entries = Record<string, Entry>;
type Values<T extends Entries> = { [K in keyof T]: T[K] extends Entry<number> ? number : number | undefined };

const number = <V extends number | undefined>(value: V, least: number, most: number): Entry<V> => ({
  value,
  read: text => {
    const given = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (given >= least && given <= most) return given;
    throw new Error(`must be a number from ${least} to ${most}`);
  },
});

/** Reads a duration such as `30s`. A pause of 0 would turn a periodic task into a busy loop. */
export function readDuration(text: string): number {
  const ms = durationMs(text);
  if (/^[0-9]+$/.test(text)) throw new Error(`must have a unit, such as ${text}s: ms, s, m, h or d`);
  if (Number.isNaN(ms))
    throw new Error("must be a duration, such as 30s: a whole number with ms, s, m, h or d");
  if (ms < 1 || ms > LONGEST_MS) throw new Error("must be more than 0 and at most 24d");
  return ms;
}

const duration = (value: number): Entry<number> => ({ value, read: readDuration });

/** `TIMEOUTS`: how long things may last before something is done about them. */
export const TIMEOUTS = {
  /** An attempt of a delivery: it has failed. */
  attempt: duration(LIMITS.attemptMs.value),
  /** A run, and a hook: it ends with `Timeout`. */
  run: duration(LIMITS.runMs.value),
  hook: duration(LIMITS.hookMs.value),
  /** An HTTP request that waits for a component to respond to it itself. */
  response: duration(LIMITS.httpResponseMs.value),
  /** The silence of a killed worker: another one starts its job. */
  stalled: duration(10_000),
  /** A webhook's failures: its owner is alerted if they go on for this long, and later the webhook is disabled. */
  alert: duration(180_000),
  disable: duration(5 * 86_400_000),
  /** The most that a webhook may ask for as its own time of an attempt. */
  "longest-attempt": duration(LIMITS.longestAttemptMs.value),
} satisfies Entries;

const QUEUES = Object.fromEntries(
  consumedQueues.map(({ name, concurrency = 1 }) => [name, number(concurrency, 1, 1000)]),
);

/** `CONCURRENCY`: how many things happen at once. */
export const CONCURRENCY = {
  /** Jobs of each queue that one worker process handles. */
  ...QUEUES,
  /** Deliveries in flight to one healthy webhook, over all worker processes. */
  webhook: number(LIMITS.permits.value, 1, 100),
  /** Sandboxes of one worker that are in use. */
  sandboxes: number(LIMITS.sandboxes.value, 1, 1000),
};

/** `SIZES_MB`: how many megabytes things may take. */
export const SIZES_MB = {
  /** The heap of a sandbox. */
  heap: number(LIMITS.runHeapBytes.value / 1024 / 1024, 32, 4096),
  /** The warm sandboxes of one worker together; by default a quarter of the machine's memory. */
  warm: number(undefined, 0, 1_000_000),
  /** Installed packages of components; fewer than four large sets (512 MB each) can make saves fail. */
  packages: number(LIMITS.packageCacheBytes.value / 1024 / 1024, 2048, 1_048_576),
} satisfies Entries;

/** `RATE_LIMITS`: requests a second, of an API key and to one source's endpoint; 0 is unlimited. */
export const RATE_LIMITS = {
  api: number(LIMITS.requestsPerSecond.value, 0, 1_000_000),
  endpoint: number(LIMITS.ingressPerSecond.value, 0, 1_000_000),
} satisfies Entries;

/**
 * Reads a list such as `run:60s,hook:10s`; entries that it does not name have their defaults. Throws an error that says what is
 * wrong.
 */
export function parseEntries<T extends Entries>(text: string, entries: T): Values<T> {
  const given = new Map<string, number>();
  for (const word of splitList(text)) {
    const [, name = "", value = ""] = /^([a-z-]+):(.*)$/.exec(word) ?? [];
    const entry = Object.hasOwn(entries, name) ? entries[name] : undefined;
    if (!entry)
      throw new Error(`must be a list of name:value, with the names ${Object.keys(entries).join(", ")}`);
    if (given.has(name)) throw new Error(`names ${name} twice`);
    given.set(name, readEntry(name, entry, value));
  }
  const all = Object.entries(entries).map(([name, { value }]) => [name, given.get(name) ?? value]);
  return Object.fromEntries(all) as Values<T>;
}

function readEntry(name: string, { read }: Entry, value: string): number {
  try {
    return read(value);
  } catch (error) {
    throw new Error(`is wrong for ${name}: it ${(error as Error).message}`);
  }
}

/** Where new work must be before it is accepted, beside the master of Redis. */
export interface Acceptance {
  /** MongoDB, before it is enqueued in Redis. */
  mongodb: boolean;
  /** How many replicas of Redis. */
  replicas: number;
}

const MOST_REPLICAS = 16;

/** Reads `DURABLE_INGRESS`: `redis`, `mongodb`, `replicas:1`, or the last two together. Throws an error that says what is wrong. */
export function parseAcceptance(text: string): Acceptance {
  const words = splitList(text);
  const replicas = words.flatMap(word => /^replicas:(\d{1,2})$/.exec(word)?.[1] ?? []).map(Number);
  const isKnown = (word: string) => word === "redis" || word === "mongodb" || word.startsWith("replicas:");
  const isRead = words.filter(word => word.startsWith("replicas:")).length === replicas.length;
  const [number = 0] = replicas;
  if (!words.every(isKnown) || !isRead || replicas.length > 1 || number > MOST_REPLICAS) {
    throw new Error(
      `must be redis, mongodb, or replicas:1 (up to ${MOST_REPLICAS}), which mongodb may precede`,
    );
  }
  return { mongodb: words.includes("mongodb"), replicas: number };
}
