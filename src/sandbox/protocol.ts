/**
 * The types that describe calls of components and their results, for the host, the child and the callers of
 * `Sandboxes`. The messages between host and child are in `child/wire.ts`. `host.ts` describes the path of a call.
 */

/**
 * The function of the component that is called. If a component has no `run`, the trigger's event is emitted instead.
 * `sampleEmit` may be a value, too; it, or what the function returns, is emitted. `options` is the function of a prop,
 * which the event names; what it lists is emitted. `additionalProps` is called to describe the props that it makes, which are
 * emitted.
 * `eventNames` is the function of an apphook prop, which the event names; the names that it returns are emitted as a list.
 * `action` is `run` of an action, whose exports and return value are emitted.
 */
export type ComponentCall =
  | "run"
  | "deploy"
  | "activate"
  | "deactivate"
  | "sampleEmit"
  | "options"
  | "additionalProps"
  | "eventNames"
  | "action";

/** Values of the props by name, as `this.<prop>` has them before the child adds methods and `$emit`. */
export type PropValues = Record<string, unknown>;

/** The static parts of a component. Functions are left out, and `propDefinition`s are resolved. */
export interface ComponentDescription {
  name: string;
  key?: string;
  version: string;
  description?: string;
  type?: string;
  dedupe?: "unique" | "greatest" | "last";
  /** How many ids `unique` remembers, if its code says. */
  remember?: number;
  /** In the order of the code. */
  props: DescribedProp[];
  hooks: ("deploy" | "activate" | "deactivate")[];
  hasRun: boolean;
  /** Paths of what must be a function and is something else, such as `run`; absent if none, and never stored. */
  notFunctions?: string[];
  /** The code has a `sampleEmit`; absent if not. */
  hasSampleEmit?: true;
  /** The code has a function `additionalProps`; absent if not. */
  hasAdditionalProps?: true;
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
  /** Static choices; absent if `options` is a function. */
  options?: unknown[];
  /** True if `options` is a function. */
  remoteOptions?: boolean;
  /** The choices depend on what a person types. */
  useQuery?: boolean;
  /** The choices of other props depend on its value. */
  reloadProps?: boolean;
  /** The code receives `{label, value}` instead of the value. */
  withLabel?: boolean;
  min?: number;
  max?: number;
  static?: unknown;
  /** Only for `$.interface.http`: the code responds to the request itself. */
  customResponse?: boolean;
  /** Only for `$.interface.http`: how its requests are verified, which props/kinds.ts checks. */
  verify?: unknown;
  /** Only for `app` props: the app's slug. */
  app?: string;
  /** Name of the `app` prop whose account the prop is about: that has the events of an apphook, or the channels to choose from. */
  appProp?: string;
  /** Only for `$.interface.apphook`: names of the events; absent for all, and if a function returns them. */
  eventNames?: string[];
  /** True if `eventNames` is a function. */
  remoteEventNames?: boolean;
  /** Only for `alert` props: what forms show, and how. */
  content?: string;
  alertType?: string;
}

export interface EmitMetadata {
  id?: string | number;
  name?: string;
  summary?: string;
  ts?: number;
}

/** The event of an `action` call: what `steps.trigger` holds. */
export interface ActionRequest {
  event: unknown;
  context: Record<string, unknown>;
}

/** An event that an `action` call emits: what `$.export` was given, or, without a name, what `run` returned. */
export interface ActionExport {
  name?: string;
  value: unknown;
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

/** The response of a component to the HTTP request that triggered it (`$.interface.http`). */
export interface HttpResponse {
  status: number;
  /** Only `Set-Cookie` may have a list of values. */
  headers: Record<string, string | string[]>;
  /** Base64, because a JSON string can't contain arbitrary bytes. */
  bodyBase64: string;
}

/**
 * Why a call failed. `code` is the error's name, or one of the host's: `Timeout`, `Out of Memory`, `Cancelled`,
 * `Sandbox Lost`, `Error`.
 */
export interface CallError {
  code: string;
  message: string;
  /** Locations refer to the component's source files. */
  stack: string;
}

export interface CallRequest {
  call: ComponentCall;
  event: unknown;
  props: PropValues;
  /** Props that the component's `additionalProps` added to those of its code, or changed. */
  added?: readonly DescribedProp[] | undefined;
  /** The content of `$.service.db`: JSON values by key. */
  db: Record<string, unknown>;
}

/** Consecutive calls of the same function, one for each event. Each sees the db as the previous call left it. */
export interface BatchRequest extends Omit<CallRequest, "event"> {
  events: unknown[];
  /** No further call starts after one that failed because a server rejected its credentials. */
  stopsUnauthorized?: boolean | undefined;
}

export interface CallResult {
  error?: CallError;
  /** True if the error says that a server rejected the call's credentials: HTTP 401. */
  unauthorized?: true;
  emits: Emit[];
  logs: LogLine[];
  /** By what the requests of its source are to be verified, as a hook has set it. Never logged or recorded. */
  secret?: string;
  /**
   * The db after the call, even if the call threw or its process was ended (docs/component-api.md#db). Absent if it is unchanged.
   */
  db?: Record<string, unknown>;
  /** Wall-clock duration of the call in milliseconds. */
  durationMs: number;
  /** Processor time of the process during the call in milliseconds, as the host measures it; 0 if unknown. */
  cpuMs: number;
  /** Highest resident memory of the process, measured each half second and at the end of the call; 0 if unknown. */
  memoryBytes: number;
}

/** Returns an error that the host raises about a call; its stack is that of what the component left behind, if anything. */
export function hostError(code: string, message: string, stack = `${code}: ${message}`): CallError {
  return { code, message, stack };
}

/** The code of a process that was ended by a signal from outside: the kernel, an operator, another program. */
export const SANDBOX_LOST = "Sandbox Lost";

/** True if the process was ended from outside, so that the same call may succeed in another one. */
export const isSandboxLost = (error: Pick<CallError, "code"> | undefined): boolean =>
  error?.code === SANDBOX_LOST;

const MAX_CHARS = 300;
/**
 * A place in the component's own files, whose names are relative: `acme.mjs:12:9`. Bounds keep the expression from being slow for
 * a stack that was written to make it so.
 */
const PLACE = String.raw`((?!node:|ext:|file:|npm:|\/)[^\n]{1,300}?:\d+:\d+)`;
const FRAME = new RegExp(String.raw`^[ \t]+at (?:[^\n]{0,300}? \(${PLACE}\)|(?:async )?${PLACE})$`, "m");

/** Returns an error's message, and behind it where in the component's own files it was thrown, if its stack says so. */
export function withFrame(message: string, stack: string): string {
  const [, named, frame = named] = FRAME.exec(stack) ?? [];
  return frame === undefined ? message : `${message} (at ${frame.slice(0, MAX_CHARS)})`;
}
