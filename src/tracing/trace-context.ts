import { splitList } from "../lib/lists.ts";
import { LIMITS } from "../limits/catalogue.ts";

/**
 * The place of something in a trace, as one line of text: a W3C `traceparent` of version 00, and behind a blank its
 * `tracestate`, if there is one. It is passed on as a value, with what it belongs to: in jobs, on events and on deliveries
 * (docs/decisions/0035-traces.md).
 */
export type TraceContext = string;

/** Versions that are not known yet begin as 00 does (W3C Trace Context, 3.2.4). `ff` is none. */
const TRACEPARENT =
  /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-[\x21-\x7e]{0,200})?$/;
const STATE_KEY = /^([a-z0-9][a-z0-9_*/-]{0,255}|[a-z0-9][a-z0-9_*/-]{0,240}@[a-z][a-z0-9_*/-]{0,13})$/;
const STATE_VALUE = /^[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;
/** Members of a `tracestate`, by the specification. */
const MAX_MEMBERS = 32;
/** Characters of a `traceparent`. */
const PARENT_CHARS = 55;
const SAMPLED_AT = PARENT_CHARS - 1;

type Header = string | string[] | undefined;

/**
 * Returns the context that a request's headers name; undefined if they name none, or a malformed one, which counts as none.
 * A malformed or overlong `tracestate` is left out.
 */
export function readTraceHeaders(traceparent: Header, tracestate: Header): TraceContext | undefined {
  const [, version, traceId, spanId, flags = "", rest] = TRACEPARENT.exec(String(traceparent ?? "")) ?? [];
  if (traceId === undefined || spanId === undefined || (version === "00" && rest !== undefined)) {
    return undefined;
  }
  return contextOf({
    traceId,
    spanId,
    isSampled: (Number.parseInt(flags, 16) & 1) === 1,
    state: readState([tracestate ?? ""].flat().join(",")),
  });
}

/** Returns a text that others wrote if it is a context, otherwise undefined. */
export function parseTraceContext(text: string | undefined): TraceContext | undefined {
  if (text === undefined) return undefined;
  return readTraceHeaders(text.slice(0, PARENT_CHARS), text.slice(PARENT_CHARS + 1));
}

/** The members of a `tracestate`, in order; empty if it is malformed. */
function readState(text: string): string {
  const members = splitList(text);
  const keys = members.map(member => member.slice(0, member.indexOf("=")));
  const isValid =
    members.length <= MAX_MEMBERS &&
    new Set(keys).size === keys.length &&
    members.every((member, i) => {
      const key = keys[i] ?? "";
      return STATE_KEY.test(key) && STATE_VALUE.test(member.slice(key.length + 1));
    });
  const state = members.join(",");
  return isValid && state.length <= LIMITS.traceStateCharacters.value ? state : "";
}

interface Parts {
  traceId: string;
  spanId: string;
  isSampled: boolean;
  /** Empty for none. */
  state?: string;
}

/** Returns the context of a span. */
export const contextOf = ({ traceId, spanId, isSampled, state = "" }: Parts): TraceContext =>
  `00-${traceId}-${spanId}-${isSampled ? "01" : "00"}${state && ` ${state}`}`;

/** The 32 hexadecimal digits by which tracing tools know the trace. */
export const traceIdOf = (context: TraceContext): string => context.slice(3, 35);

/** The 16 hexadecimal digits of the span that is the parent of whatever comes next. */
export const spanIdOf = (context: TraceContext): string => context.slice(36, 52);

export const stateOf = (context: TraceContext): string => context.slice(PARENT_CHARS + 1);

/** Whether the trace is recorded. */
export const isSampled = (context: TraceContext): boolean => context[SAMPLED_AT] === "1";

/** The field `trace_id` of a log line; none without a trace. */
export const traceField = (context: TraceContext | undefined): { trace_id?: string } =>
  context === undefined ? {} : { trace_id: traceIdOf(context) };

/** The headers that pass a trace on with a request; none without a trace. */
export function traceHeaders(context: TraceContext | undefined): Record<string, string> {
  if (context === undefined) return {};
  const tracestate = stateOf(context);
  return { traceparent: context.slice(0, PARENT_CHARS), ...(tracestate !== "" && { tracestate }) };
}
