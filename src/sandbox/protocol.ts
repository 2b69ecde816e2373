/**
 * What the worker (parent) and the sandbox (child) say to each other: one JSON object a line.
 * The child is never trusted: the host checks size, count and shape of all it says (schemas in `host`).
 */

/** Which function of the component is called. `run` may be absent: then the trigger's event itself is emitted. */
export type ComponentCall = "run" | "deploy" | "activate" | "deactivate";

/** Values of the props by name, as `this.<prop>` shall see them before the child adds methods and `$emit`. */
export type PropValues = Record<string, unknown>;

/** What a saved component says of itself; functions are left out, `propDefinition`s are resolved. */
export interface ComponentDescription {
  name: string;
  key?: string;
  version: string;
  description?: string;
  type?: string;
  dedupe?: "unique" | "greatest" | "last";
  /** Ordered as in the code. */
  props: DescribedProp[];
  hooks: ("deploy" | "activate" | "deactivate")[];
  hasRun: boolean;
}

export interface DescribedProp {
  name: string;
  type: string;
  label?: string;
  description?: string;
  default?: unknown;
  optional?: boolean;
  secret?: boolean;
  hidden?: boolean;
  /** Static choices; absent where `options` is a function. */
  options?: unknown[];
  /** True where `options` is an async function. */
  remoteOptions?: boolean;
  /** The code reads `{label, value}` where another prop is the value. */
  withLabel?: boolean;
  min?: number;
  max?: number;
  static?: unknown;
  /** `$.interface.http` only: the code answers the request itself. */
  customResponse?: boolean;
  /** `app` props: the app's slug. */
  app?: string;
}

export interface EmitMetadata {
  id?: string | number;
  name?: string;
  summary?: string;
  ts?: number;
}

export interface Emit {
  event: unknown;
  metadata: EmitMetadata;
}

export interface LogLine {
  level: "debug" | "info" | "warn" | "error";
  message: string;
  /** Unix milliseconds. */
  ts: number;
}

/** The answer a component gives to the HTTP request that triggered it (`$.interface.http`). */
export interface HttpResponse {
  status: number;
  headers: Record<string, string>;
  /** Base64, so that any bytes pass. */
  bodyBase64: string;
}

/** How a call ended when it did not end well. `code` tells `Timeout`, `Out of Memory`, `ConfigurationError`, … */
export interface CallError {
  code: string;
  message: string;
  /** Mapped to the component's own lines. */
  stack: string;
}

export interface CallRequest {
  call: ComponentCall;
  event: unknown;
  props: PropValues;
  /** State of `$.service.db`, key to JSON value. */
  db: Record<string, unknown>;
}

/** Calls of the same function that follow each other, one for each event, each with the db that the one before left. */
export interface CallsRequest extends Omit<CallRequest, "event"> {
  events: unknown[];
}

export interface CallResult {
  error?: CallError;
  emits: Emit[];
  logs: LogLine[];
  /** The db after the call; also given when the call threw (runtime.md). Absent when unchanged or unknown (killed). */
  db?: Record<string, unknown>;
  /** Wall-clock milliseconds the call took. */
  durationMs: number;
  /** Processor milliseconds its process used meanwhile, as the host measures them; 0 where that is unknown. */
  cpuMs: number;
  /** Resident memory of its process: the most that was seen, which is at the end and each half second; 0 if unknown. */
  memoryBytes: number;
}
