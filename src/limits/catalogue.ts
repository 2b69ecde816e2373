/**
 * Every bound on what an account or a stranger can send, store, start, keep open or make Headwater send. Code reads its
 * bounds from here, and `npm run docs:limits` writes docs/limits.md from it. A bound with a `setting` is the default of
 * that setting in `config.ts`.
 */

type Unit = "bytes" | "characters" | "levels" | "count" | "ms" | "per second" | "per minute" | "per day";

/** What a bound holds for: one item, all of an account, or all that one process does. */
type Scope =
  | "value"
  | "request"
  | "run"
  | "component"
  | "source"
  | "webhook"
  | "subscription"
  | "key"
  | "address"
  | "account"
  | "process";

export interface Limit {
  readonly value: number;
  readonly unit: Unit;
  readonly per: Scope;
  /** What is bounded, as the subject of a row in docs/limits.md. */
  readonly what: string;
  /** What happens beyond the bound: status and problem type, or what is done instead. */
  readonly beyond: string;
  /** The setting that changes the bound. */
  readonly setting?: string;
  /** The bound of an account on the paid plan, if it differs. */
  readonly paid?: number;
}

const KB = 1024;
const MB = 1024 * KB;

const define = <T extends Record<string, Limit>>(limits: T): { readonly [K in keyof T]: Limit } =>
  Object.freeze(limits);

export const LIMITS = define({
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
    beyond: "429 `rate-limited` for HTTP requests; events and ticks are dropped, and counted",
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
  pageBytes: {
    value: 8 * MB,
    unit: "bytes",
    per: "request",
    what: "rows of a page, as stored",
    beyond: "the page ends early; its `end_cursor` (`start_cursor` with `before`) leads to the next row",
  },
  pageEventBytes: {
    value: 4 * MB,
    unit: "bytes",
    per: "request",
    what: "events of a page with `expand=event`",
    beyond: "the page ends early; its `end_cursor` (`start_cursor` with `before`) leads to the next event",
  },
  bundleCacheBytes: {
    value: 64 * MB,
    unit: "bytes",
    per: "process",
    what: "bundles of components that are kept in memory",
    beyond: "those that were not used for the longest time are read again",
  },
  componentCacheBytes: {
    value: 16 * MB,
    unit: "bytes",
    per: "process",
    what: "descriptions of components that are kept in memory",
    beyond: "those that were not used for the longest time are read again",
  },
});
