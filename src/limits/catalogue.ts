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
    what: "nesting of a JSON body, of the API and of a request for a source",
    beyond: "400 `invalid`",
  },
  runBytes: {
    value: 64 * MB,
    unit: "bytes",
    per: "run",
    what: "everything that a run sends back: events, `$.service.db`, logs",
    beyond: "the run fails",
  },
  runParsedBytes: {
    value: 256 * MB,
    unit: "bytes",
    per: "run",
    what: "memory that the events of a run take in the worker, about 64 bytes an array or object and 24 any other value",
    beyond: "`$emit` throws",
  },
  queuedRuns: {
    value: 10_000,
    unit: "count",
    per: "source",
    what: "runs that wait",
    beyond: "429 `rate-limited` for HTTP requests; events and ticks are dropped, and counted",
  },
  configuredPropsBytes: {
    value: 1 * MB,
    unit: "bytes",
    per: "source",
    what: "stored values of its props, as JSON",
    beyond: "400 `invalid`",
  },
  descriptionBytes: {
    value: 1 * MB,
    unit: "bytes",
    per: "component",
    what: "description of a component and its props, as JSON",
    beyond: "400 `invalid`",
  },
  jobStarts: {
    value: 5,
    unit: "count",
    per: "value",
    what: "starts of a job whose worker crashes each time",
    beyond: "the job is given up: counted, logged and kept on the board",
  },
  failedJobs: {
    value: 500,
    unit: "count",
    per: "process",
    what: "failed jobs kept of each queue whose jobs hold events, for 7 days",
    beyond: "the oldest are removed",
  },
  failedJobBytes: {
    value: 64 * KB,
    unit: "bytes",
    per: "value",
    what: "payload that a failed job keeps",
    beyond: "only ids are kept",
  },
  eventDepth: {
    value: 100,
    unit: "levels",
    per: "value",
    what: "nesting of an emitted event, and of a value in `$.service.db`",
    beyond: "`$emit` or `set` throws; a job's emission is dropped as `invalid`",
  },
  formFields: {
    value: 5000,
    unit: "count",
    per: "request",
    what: "fields of a URL-encoded body of a request for a source",
    beyond: "413 `too-large`",
  },
  formParts: {
    value: 200,
    unit: "count",
    per: "request",
    what: "parts of a multipart body of a request for a source",
    beyond: "413 `too-large`",
  },
  formPartHeaderBytes: {
    value: 1 * KB,
    unit: "bytes",
    per: "request",
    what: "headers of one part of a multipart body",
    beyond: "413 `too-large`",
  },
});
