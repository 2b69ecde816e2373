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
  | "session"
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
  unknownKeys: {
    value: 60,
    unit: "per minute",
    per: "address",
    what: "unknown API keys that one web process looks up (of an IPv6 address: its /64)",
    beyond: "429 `rate-limited`, for keys that the process has not seen before",
  },
  replyBytes: {
    value: 8 * MB,
    unit: "bytes",
    per: "request",
    what: "response of a component, in base64 and with its headers (the body alone: 5 MB)",
    beyond: "the run is treated as one without a response",
  },
  replyKeptMs: {
    value: 30_000,
    unit: "ms",
    per: "request",
    what: "life of a component's response in Redis if no process reads it",
    beyond: "it is deleted",
  },
  inspectionMs: {
    value: 1000,
    unit: "ms",
    per: "process",
    what: "time between two looks at the stores for `/metrics` or `/readyz`",
    beyond: "the same response again",
  },
  boardGuesses: {
    value: 20,
    unit: "count",
    per: "address",
    what: "wrong passwords at the board's sign-in page in 15 minutes",
    beyond: "429 `rate-limited`, also for the right password",
  },
  boardSessionMs: {
    value: 12 * 60 * 60 * 1000,
    unit: "ms",
    per: "session",
    what: "life of a session of the board",
    beyond: "the sign-in page again",
  },
});
