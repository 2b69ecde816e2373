import { parse, UsageError } from "../entry.ts";
import type { Demand, Way } from "./model.ts";

export const HELP = `Usage: npm run capacity -- --events N [options]

Plans an installation: processes of each worker, the size of Redis and MongoDB, processor time and network, for events at
the busiest time. The figures come from the bench (bench/capacity/constants.ts names each measurement); what they leave out
is in docs/scaling.md#capacity.

  --events N        events a second, at the busiest time (required; such as 200, or 0.5)
  --via WAY         publish (default): over HTTP to the API; queue: by a workflow engine through BullMQ;
                    source: HTTP requests to sources; timer: sources with timers
  --fan-out N       webhooks that receive each event, on average (default 1; 0 for none)
  --payload SIZE    of an event, such as 800b, 2kb or 1mb (default 1kb)
  --retention TIME  for how long events have come in when MongoDB's size is asked for, such as 12h or 30d; they are kept
                    for 30d, which is the default and the most
  --attempts N      attempts a delivery takes, on average (default 1.05)
  --latency MS      how long endpoints take to respond (default 200)
  --run MS          how long a component computes for an event (default 1); only for sources and timers
  --emitters N      sources and workflows that emitted within a day (default 100)
  --backlog TIME    how long workers may be away while events are accepted; Redis holds them (default 10m)
  --load PERCENT    the share of a core that a process may use at that rate (default 60)
  --json            prints JSON

For example: npm run capacity -- --events 200 --fan-out 2 --payload 2kb --retention 30d`;

/** What is not asked for. */
export const DEFAULTS: Omit<Demand, "events" | "way"> = {
  fanOut: 1,
  payloadBytes: 1024,
  retentionDays: 30,
  attempts: 1.05,
  latencyMs: 200,
  runMs: 1,
  emitters: 100,
  backlogSeconds: 600,
  load: 0.6,
};

const WAYS: readonly Way[] = ["publish", "queue", "source", "timer"];
const MAX_RETENTION_DAYS = 30;
const MAX_BACKLOG_DAYS = 7;
/** The largest body of a request that publishes. */
const MAX_PAYLOAD = 5 * 1024 * 1024;

/** Reads the command line. Throws UsageError, which names the option. */
export function readOptions(args: string[]): { demand: Demand; json: boolean } {
  const { values } = parse({
    args,
    options: {
      ...Object.fromEntries(
        [
          "events",
          "via",
          "fan-out",
          "payload",
          "retention",
          "attempts",
          "latency",
          "run",
          "emitters",
          "backlog",
          "load",
        ].map(name => [name, { type: "string" as const }]),
      ),
      json: { type: "boolean", default: false },
    },
  });
  const given = values as unknown as Record<string, string | undefined>;
  const number = (name: string, fallback: number, least: number, most: number): number => {
    const text = given[name];
    if (text === undefined) return fallback;
    const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= least && value <= most)) {
      throw new UsageError(`--${name} must be a number from ${least} to ${most}, not "${text}"`);
    }
    return value;
  };
  const way = WAYS.find(one => one === (given.via ?? "publish"));
  if (!way) throw new UsageError(`--via must be one of ${WAYS.join(", ")}, not "${given.via}"`);
  if (given.events === undefined) throw new UsageError("--events is missing: how many events a second");
  const seconds = (name: string, fallback: number) =>
    given[name] === undefined ? fallback : parseSeconds(given[name], `--${name}`);
  const retentionDays = seconds("retention", DEFAULTS.retentionDays * 86_400) / 86_400;
  if (retentionDays === 0 || retentionDays > MAX_RETENTION_DAYS) {
    throw new UsageError(
      "--retention must be 30d or less, and not 0: events and deliveries are deleted after 30 days",
    );
  }
  const backlogSeconds = seconds("backlog", DEFAULTS.backlogSeconds);
  if (backlogSeconds > MAX_BACKLOG_DAYS * 86_400) {
    throw new UsageError(`--backlog must be ${MAX_BACKLOG_DAYS}d or less`);
  }
  return {
    demand: {
      way,
      events: number("events", 0, 0.001, 1_000_000),
      fanOut: number("fan-out", DEFAULTS.fanOut, 0, 10_000),
      payloadBytes:
        given.payload === undefined
          ? DEFAULTS.payloadBytes
          : parseBytes(given.payload, "--payload", MAX_PAYLOAD),
      retentionDays,
      attempts: number("attempts", DEFAULTS.attempts, 1, 32),
      latencyMs: number("latency", DEFAULTS.latencyMs, 1, 15_000),
      runMs: number("run", DEFAULTS.runMs, 0, 300_000),
      emitters: number("emitters", DEFAULTS.emitters, 1, 1e9),
      backlogSeconds,
      load: number("load", DEFAULTS.load * 100, 1, 100) / 100,
    },
    json: values.json as boolean,
  };
}

const SECONDS: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400 };

function parseSeconds(text: string, option: string): number {
  const [, amount, unit = ""] = /^(\d+(?:\.\d+)?)([smhd])$/.exec(text) ?? [];
  if (!amount) throw new UsageError(`${option} must be a time such as 30s, 10m, 12h or 30d, not "${text}"`);
  return Number(amount) * (SECONDS[unit] ?? 1);
}

const BYTES: Record<string, number> = { b: 1, kb: 1024, mb: 1024 * 1024 };

/** Reads a size such as `2kb`. Throws UsageError that names the option, also for one above `most` bytes. */
export function parseBytes(text: string, option: string, most: number): number {
  const [, amount, unit = ""] = /^(\d+(?:\.\d+)?)(b|kb|mb)$/i.exec(text) ?? [];
  const bytes = Number(amount) * (BYTES[unit.toLowerCase()] ?? Number.NaN);
  if (!(bytes >= 1 && bytes <= most)) {
    throw new UsageError(
      `${option} must be a size such as 800b, 2kb or 1mb, up to ${most / 1024} KB, not "${text}"`,
    );
  }
  return Math.round(bytes);
}
