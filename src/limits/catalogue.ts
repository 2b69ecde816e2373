import { defineLimits, KB, MB } from "./limit.ts";
import { PLAN_LIMITS } from "./plan-limits.ts";

/**
 * Every bound on what an account or a stranger can send, store, start, keep open or make Headwater send. Code reads its
 * bounds from here, and `npm run docs:limits` writes docs/limits.md from it. A bound with a `setting` is the default of
 * that setting in `config.ts`.
 */

export const LIMITS = defineLimits({
  ...PLAN_LIMITS,
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
  queuedChanges: {
    value: 20,
    unit: "count",
    per: "source",
    what: "updates that wait for hooks",
    beyond: "429 `rate-limited`",
  },
  idempotencyKeyCharacters: {
    value: 255,
    unit: "characters",
    per: "request",
    what: "`Idempotency-Key`",
    beyond: "400 `invalid`",
  },
  idempotencyStoredMs: {
    value: 12 * 3600 * 1000,
    unit: "ms",
    per: "key",
    what: "time for which the response to an `Idempotency-Key` is kept",
    beyond: "the same request is handled again",
  },
  idempotencyInFlightMs: {
    value: 60_000,
    unit: "ms",
    per: "key",
    what: "time for which a request whose process was killed blocks its `Idempotency-Key`",
    beyond: "the same request is handled again; until then 409 `conflict` with `Retry-After`",
  },
  setAsideItems: {
    value: 10_000,
    unit: "count",
    per: "process",
    what: "items that the reconciler failed to repair and tries again ever less often, over all processes",
    beyond: "an item is tried in each sweep, and logged each time",
  },
  savesPerAccount: {
    value: 16,
    unit: "count",
    per: "account",
    what: "components being saved at once, in one web process",
    beyond: "429 `rate-limited`",
  },
  saves: {
    value: 128,
    unit: "count",
    per: "process",
    what: "components being saved at once",
    beyond: "503 `unavailable`",
  },
  buildsPerAccount: {
    value: 3,
    unit: "count",
    per: "account",
    what: "builds of components at once, in one web process",
    beyond: "waits; accounts are served in turn",
  },
  builds: {
    value: 4,
    unit: "count",
    per: "process",
    what: "builds of components at once",
    beyond: "waits; accounts are served in turn",
  },
  packageSetsPerAccount: {
    value: 3,
    unit: "count",
    per: "account",
    what: "components with npm packages built at once, in one web process",
    beyond: "waits; accounts are served in turn",
  },
  packageSets: {
    value: 4,
    unit: "count",
    per: "process",
    what: "components with npm packages built at once",
    beyond: "waits; accounts are served in turn",
  },
  installationsPerHour: {
    value: 200,
    unit: "count",
    per: "account",
    what: "sets of npm packages installed in an hour, in one web process",
    beyond: "429 `rate-limited`",
  },
  packageSetBytes: {
    value: 512 * MB,
    unit: "bytes",
    per: "component",
    what: "npm packages of a component, installed",
    beyond: "400 `invalid`",
  },
  packageCacheBytes: {
    value: 4 * 1024 * MB,
    unit: "bytes",
    per: "process",
    what: "installed npm packages of all components, below `CACHE_DIR`",
    beyond:
      "the sets that were not used for the longest time are removed; 503 `unavailable` if all are in use",
    setting: "PACKAGES_MB",
  },
});
