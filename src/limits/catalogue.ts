import { ITEM_LIMITS } from "./item-limits.ts";
import { defineLimits, KB, MB } from "./limit.ts";
import { PLAN_LIMITS } from "./plan-limits.ts";

/**
 * Every bound on what an account or a stranger can send, store, start, keep open or make Headwater send. Code reads its
 * bounds from here, and `npm run docs:limits` writes docs/limits.md from it. A bound with a `setting` is the default of
 * that setting in `config.ts`.
 */

export const LIMITS = defineLimits({
  ...PLAN_LIMITS,
  ...ITEM_LIMITS,
  apiBodyBytes: {
    value: 1024 * KB,
    unit: "bytes",
    per: "request",
    what: "body of an API request, after decompression",
    beyond: "413 `too-large`",
    setting: "API_BODY_KB",
  },
  ingressBodyBytes: {
    value: 512 * KB,
    unit: "bytes",
    per: "request",
    what: "body of an HTTP request for a source",
    beyond: "413 `too-large`",
  },
  jsonDepth: {
    value: 50,
    unit: "levels",
    per: "value",
    what: "nesting of a JSON body of the API",
    beyond: "400 `invalid`",
  },
  runBytes: {
    value: 64 * MB,
    unit: "bytes",
    per: "run",
    what: "everything that a run sends back: events, `$.service.db`, logs",
    beyond: "the run fails",
  },
  queuedRuns: {
    value: 10_000,
    unit: "count",
    per: "source",
    what: "runs that wait",
    beyond: "429 `rate-limited` for HTTP requests; events are dropped and counted (`queue-full`)",
  },
  redisHighWaterPercent: {
    value: 80,
    unit: "percent",
    per: "installation",
    what: "Redis' memory in use, above which the bytes that accounts may have waiting shrink",
    beyond:
      "429 `rate-limited` for the accounts with the most; from 95 percent 503 `unavailable` for all new runs",
    setting: "REDIS_HIGH_WATER_PERCENT",
  },
  runKept: {
    value: 7 * 86_400_000,
    unit: "ms",
    per: "run",
    what: "how long it is listed",
    beyond: "its record is deleted",
  },
  idleTickKept: {
    value: 3_600_000,
    unit: "ms",
    per: "run",
    what: "how long a timer's run that emitted and logged nothing is listed; of a cron, until its next moment is over",
    beyond: "its record is deleted",
  },
  queuedChanges: {
    value: 20,
    unit: "count",
    per: "source",
    what: "updates that wait for hooks",
    beyond: "429 `rate-limited`",
  },
});
