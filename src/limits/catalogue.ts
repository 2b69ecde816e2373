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
  attemptsInFlight: {
    value: 1000,
    unit: "count",
    per: "process",
    what: "requests to webhooks in flight",
    beyond: "further attempts wait as deliveries, and are counted",
  },
  attemptsInFlightOfAccount: {
    value: 750,
    unit: "count",
    per: "account",
    what: "requests to webhooks in flight, from one process",
    beyond: "further attempts wait as deliveries, and are counted",
  },
  attemptsInFlightAtOrigin: {
    value: 64,
    unit: "count",
    per: "account",
    what: "requests to webhooks of one origin in flight, from one process",
    beyond: "further attempts wait while places become free, then as deliveries, and are counted",
  },
});
