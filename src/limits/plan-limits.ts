import { splitList } from "../lib/lists.ts";
import { defineLimits, MB } from "./limit.ts";

const REACHED = "403 `limit-reached`";

/**
 * The bounds that differ by plan. The settings `FREE_LIMITS` and `PAID_LIMITS` change any of them, and `GET /v1/users/me`
 * shows them (docs/rest-api.md#current-user), each by its name in snake case.
 */
export const PLAN_LIMITS = defineLimits({
  components: {
    value: 500,
    paid: 10_000,
    unit: "count",
    per: "account",
    what: "components",
    beyond: REACHED,
  },
  sources: { value: 100, paid: 10_000, unit: "count", per: "account", what: "sources", beyond: REACHED },
  subMinuteTimers: {
    value: 10,
    paid: 1000,
    unit: "count",
    per: "account",
    what: "active sources whose timer is due more often than once a minute",
    beyond: REACHED,
  },
  webhooks: {
    value: 100,
    paid: 10_000,
    unit: "count",
    per: "account",
    what: "webhooks and destinations",
    beyond: REACHED,
  },
  subscriptions: {
    value: 1000,
    paid: 100_000,
    unit: "count",
    per: "account",
    what: "subscriptions; those that auto subscriptions made count, and are made beyond it",
    beyond: REACHED,
  },
  subscriptionsPerEmitter: {
    value: 100,
    paid: 1000,
    unit: "count",
    per: "emitter",
    what: "subscriptions that name the same `emitter_id`; of a glob, those of the account",
    beyond: REACHED,
  },
  autoSubscriptions: {
    value: 20,
    paid: 100,
    unit: "count",
    per: "account",
    what: "auto subscriptions",
    beyond: REACHED,
  },
  streams: {
    value: 20,
    paid: 200,
    unit: "count",
    per: "user and process",
    what: "open event streams, of an organization's sources too",
    beyond: "429 `rate-limited`",
  },
  queuedBytesPerSource: {
    value: 32 * MB,
    paid: 256 * MB,
    unit: "bytes",
    per: "source",
    what: "JSON of the runs that wait",
    beyond: "429 `rate-limited` for HTTP requests; events are dropped and counted (`queue-full`)",
  },
  queuedBytes: {
    value: 64 * MB,
    paid: 1024 * MB,
    unit: "bytes",
    per: "account",
    what: "what waits in Redis for all sources; the first 32 KB of each source are not counted",
    beyond: "429 `rate-limited` for HTTP requests; events are dropped and counted (`queue-full`)",
  },
  emissionBytes: {
    value: 64 * MB,
    paid: 256 * MB,
    unit: "bytes",
    per: "account",
    what: "emissions of runs, and published events, that wait on their queue; outboxes under 8 KB are not counted",
    beyond:
      "the account's runs wait, then as for the bytes that wait in run queues; 429 `rate-limited` for published events",
  },
  workflowEvents: {
    value: 1000,
    paid: 50_000,
    unit: "count",
    per: "account",
    what: "events that wait for a workflow engine",
    beyond: "events for workflows are dropped and counted (`saturated`)",
  },
  workflowEventBytes: {
    value: 8 * MB,
    paid: 256 * MB,
    unit: "bytes",
    per: "account",
    what: "their bytes",
    beyond: "events for workflows are dropped and counted (`saturated`)",
  },
  idempotencyBytesPerHour: {
    value: 8 * MB,
    paid: 64 * MB,
    unit: "bytes",
    per: "account",
    what: "responses kept for an `Idempotency-Key`, in one hour",
    beyond: "429 `rate-limited` until the hour ends; requests without the header pass",
  },
  workflows: {
    value: 100,
    paid: 10_000,
    unit: "count",
    per: "account",
    what: "workflows; those that the operator registers count, and are registered beyond it",
    beyond: REACHED,
  },
  organizations: {
    value: 0,
    paid: 20,
    unit: "count",
    per: "account",
    what: "organizations that a user makes by the API; those that an operator makes do not count",
    beyond: REACHED,
  },
  connections: {
    value: 100,
    paid: 10_000,
    unit: "count",
    per: "account",
    what: "connections",
    beyond: REACHED,
  },
  publishedEvents: {
    value: 100_000,
    paid: 50_000_000,
    unit: "per day",
    per: "account",
    what: "events published over HTTP; counted a moment later, so that a burst may exceed it a little",
    beyond: "429 `rate-limited` until midnight (UTC)",
  },
});

export type PlanLimitName = keyof typeof PLAN_LIMITS;
/** The bounds of one account. */
export type PlanLimits = Readonly<Record<PlanLimitName, number>>;

export const PLAN_LIMIT_NAMES = Object.keys(PLAN_LIMITS) as PlanLimitName[];

/** Returns a name as settings and the API spell it. */
export const snakeCase = (name: string): string =>
  name.replaceAll(/[A-Z]/g, letter => `_${letter.toLowerCase()}`);

/** Returns the bounds of a plan; `changes` are those of its setting, in snake case. */
export function limitsOfPlan(plan: "free" | "paid", changes: Record<string, number>): PlanLimits {
  const bounds = PLAN_LIMIT_NAMES.map(name => {
    const { value, paid = value } = PLAN_LIMITS[name];
    return [name, changes[snakeCase(name)] ?? (plan === "paid" ? paid : value)];
  });
  return Object.freeze(Object.fromEntries(bounds)) as PlanLimits;
}

/** What `FREE_LIMITS` bounds besides: the quota of a free account, which a paid one has not. */
export const QUOTA = ["daily_invocations", "daily_compute_ms"];

/**
 * Parses `sources=10,webhooks=5`, the value of `FREE_LIMITS` and `PAID_LIMITS`; the former may also name the quota (`others`).
 * Throws an Error of one line for an unknown name or a value that is not a whole number.
 */
export function parsePlanLimits(text: string, others: readonly string[] = []): Record<string, number> {
  const names = [...PLAN_LIMIT_NAMES.map(snakeCase), ...others];
  const pairs = splitList(text).map(pair => {
    const [, name = "", value = ""] = /^(\w+)=(\d{1,15})$/.exec(pair) ?? [];
    if (!names.includes(name)) {
      throw new Error(`must be a list such as sources=10,webhooks=5 of ${names.join(", ")}`);
    }
    return [name, Number(value)];
  });
  return Object.fromEntries(pairs);
}
