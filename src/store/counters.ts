import type { RedisClient } from "./redis.ts";

/** Counters of all processes, kept in one Redis hash so that the web process can show them (`/metrics`). */
export interface Counters {
  add(name: string, labels?: Record<string, string>, by?: number): void;
  /** `name{label="value"}` to count. */
  read(): Promise<Record<string, number>>;
  /** Writes what is still in memory; at most a second of counts is lost with a killed process. */
  close(): Promise<void>;
}

const FLUSH_MS = 1000;

/** `name{a="b"}`, labels in order of their names: the series' name in Prometheus' text format. */
export function seriesName(name: string, labels: Record<string, string> = {}): string {
  const pairs = Object.entries(labels)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}="${value.replace(/[\\"\n]/g, "_")}"`);
  return pairs.length === 0 ? name : `${name}{${pairs.join(",")}}`;
}

export function openCounters(redis: RedisClient, key: string): Counters {
  let pending = new Map<string, number>();
  const flush = async () => {
    const batch = pending;
    if (batch.size === 0) return;
    pending = new Map();
    const pipeline = redis.pipeline();
    for (const [series, by] of batch) pipeline.hincrby(key, series, by);
    try {
      await pipeline.exec();
    } catch {
      // Redis is away: the counts go with the next batch.
      for (const [series, by] of batch) pending.set(series, (pending.get(series) ?? 0) + by);
    }
  };
  const timer = setInterval(() => void flush(), FLUSH_MS);
  timer.unref();
  return {
    add(name, labels = {}, by = 1) {
      const series = seriesName(name, labels);
      pending.set(series, (pending.get(series) ?? 0) + by);
    },
    async read() {
      await flush();
      const all = await redis.hgetall(key);
      return Object.fromEntries(Object.entries(all).map(([series, text]) => [series, Number(text)]));
    },
    async close() {
      clearInterval(timer);
      await flush();
    },
  };
}
