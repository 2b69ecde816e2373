import { checkQuota } from "../../accounts/quota.ts";
import { countRuns } from "../../accounts/usage.ts";
import { type Code, loadCode } from "../../components/stored-bundle.ts";
import { connectProps } from "../../connections/connect-props.ts";
import { ConnectionFailed, callErrorOf } from "../../connections/look-up.ts";
import { noteUse, type UsedToken } from "../../connections/note-use.ts";
import type { PrivateAddress } from "../../egress/private-addresses.ts";
import { AppError, type ErrorCode } from "../../lib/errors.ts";
import { eventMs } from "../../lib/ids.ts";
import { LIMITS } from "../../limits/catalogue.ts";
import type { ActionOutput } from "../../models/delivery.ts";
import type { Destination } from "../../models/webhook.ts";
import type { Calling } from "../../platform.ts";
import { actionPropsFor } from "../../props/action-props.ts";
import { propValuesForRun } from "../../props/configure.ts";
import { boundProp, withAddedProps } from "../../props/dynamic-props.ts";
import {
  type ActionExport,
  type ActionRequest,
  type CallResult,
  type DescribedProp,
  type LogLine,
  type PropValues,
  withFrame,
} from "../../sandbox/protocol.ts";
import { openSettings } from "../kind.ts";
import type { EndpointResponse, Message, SendToDestination } from "../message.ts";
import { type Db, hasDb, readDb, saveDb } from "./db.ts";
import { type ActionSettings, actionMs } from "./settings.ts";

const MAX_RESPONSE_CHARS = 1024;
/** The message may have the beginning of a response in it. */
const MAX_ERROR_CHARS = 2048;

/**
 * Runs an action for one event (docs/actions.md). What its code throws is a failed attempt. It counts as a run
 * of the destination's account. Throws `unavailable` if no sandbox is free soon, or can be started.
 */
export const sendToAction: SendToDestination = async (platform, destination, message, signal, atMs) => {
  const scope = { event: JSON.parse(message.body) as unknown, context: contextOf(destination, message) };
  let code: Code;
  let props: PropValues;
  let added: DescribedProp[] | undefined;
  let db: Db | undefined;
  let tokens: UsedToken[];
  let opened: PrivateAddress[];
  try {
    const settings = openSettings<ActionSettings>(platform.secrets, destination);
    code = await loadCode(platform, settings.component_id);
    const own = code.component.description.props;
    const declared = settings.dynamic ? withAddedProps(own, settings.dynamic.props) : own;
    added = settings.dynamic?.props.map(boundProp);
    const filled = actionPropsFor(declared, settings.configured_props, scope);
    await platform.routing.refresh();
    const owner = destination.owner_id;
    const connected = await connectProps(platform, owner, { props: declared, values: filled }, signal);
    tokens = connected.tokens;
    opened = connected.opened;
    props = propValuesForRun(declared, connected.values, { endpointUrl: null });
    db = hasDb(declared) ? await readDb(platform, destination._id) : undefined;
    await checkQuota(platform, destination.owner_id);
  } catch (error) {
    if (signal?.aborted)
      throw new AppError("unavailable", "stopped before the action ended", { cause: error });
    return failedBefore(error, platform.clock() - atMs);
  }
  const result = await call(platform, destination, { code, props, added, scope, db, opened }, signal);
  if (db && result.db) await saveDb(platform, destination._id, db, result.db);
  await countRuns(platform, destination.owner_id, 1, result.durationMs).catch(() => undefined);
  await noteUse(platform, { tokens, by: destination._id }, result);
  return responseOf(result);
};

/** `steps.trigger.context`, and `$.context`. The id is the same for each attempt. */
function contextOf({ _id }: Destination, { id, attempt, eventId, eventName, emitterId }: Message) {
  const ts = new Date(eventMs(eventId)).toISOString();
  return {
    ...{ id, ts, attempt, test: eventName === "$test" },
    ...{ event_id: eventId, event_name: eventName, emitter_id: emitterId, destination_id: _id },
  };
}

interface Request {
  code: Code;
  props: PropValues;
  /** The props that `additionalProps` made. */
  added: DescribedProp[] | undefined;
  scope: ActionRequest;
  /** What its db holds; absent if it has none. */
  db: Db | undefined;
  /** What the code may reach beside public addresses. */
  opened: PrivateAddress[];
}

async function call(
  platform: Calling,
  { _id, owner_id: owner }: Destination,
  { code: { bundle }, props, added, scope, db = {}, opened }: Request,
  signal: AbortSignal | undefined,
): Promise<CallResult> {
  const sandboxes = await platform.sandboxes();
  const { runMs } = platform.config.sandbox;
  const deadline = AbortSignal.timeout(actionMs(platform.config));
  const key = `${_id}:${bundle.hash}`;
  const { seat, leave } = takeSeat(key);
  try {
    const result = await sandboxes.call(
      `${key}:${seat}`,
      bundle,
      { call: "action", event: scope, props, added, db },
      {
        ...{ owner, opened },
        signal: signal ? AbortSignal.any([signal, deadline]) : deadline,
        ...(scope.context.test === true && { wallMs: Math.min(runMs, LIMITS.trialMs.value) }),
      },
    );
    if (signal?.aborted) throw new AppError("unavailable", "stopped before the action ended");
    if (deadline.aborted) throw new AppError("unavailable", "no sandbox was free");
    return result;
  } finally {
    leave();
  }
}

function responseOf({ error, durationMs, ...result }: CallResult): EndpointResponse {
  const output = collectOutput(result);
  const returned = output.return_value === null ? "" : JSON.stringify(output.return_value);
  return {
    status: error ? null : 200,
    latencyMs: Math.round(durationMs),
    error: error ? withFrame(`${error.code}: ${error.message}`.slice(0, MAX_ERROR_CHARS), error.stack) : null,
    response: (output.summary ?? returned).slice(0, MAX_RESPONSE_CHARS),
    retryAfter: null,
    timedOut: error?.code === "Timeout",
    output: JSON.stringify(output),
  };
}

/** The attempt that fails before a sandbox is needed; throws errors that are not those of the action or its account. */
function failedBefore(error: unknown, latencyMs: number): EndpointResponse {
  const isConnection = error instanceof ConnectionFailed;
  const code = isConnection ? callErrorOf(error).code : error instanceof AppError && CODES[error.code];
  if (!code) throw error;
  const { message, retryAfterMs } = error as Partial<AppError>;
  return {
    status: null,
    latencyMs,
    error: `${code}: ${message}`.slice(0, MAX_RESPONSE_CHARS),
    response: "",
    retryAfter: retryAfterMs === undefined ? null : String(Math.ceil(retryAfterMs / 1000)),
    timedOut: false,
  };
}

/** As a run's error would be called (docs/component-api.md#errors-logs-and-limits). */
const CODES: Partial<Record<ErrorCode, string>> = {
  invalid: "ConfigurationError",
  "not-found": "ConfigurationError",
  "rate-limited": "Quota Exceeded",
};

/** Which numbers of each key are in use. */
const taken = new Map<string, Set<number>>();

/**
 * Takes the lowest free number of a key, and returns it with the function that frees it. Calls under one name must not
 * overlap in the sandbox's pool, so each call of an action under way has a number of its own; the lowest, so that few
 * processes stay warm.
 */
export function takeSeat(key: string): { seat: number; leave: () => void } {
  const seats = taken.get(key) ?? new Set();
  taken.set(key, seats);
  let seat = 0;
  while (seats.has(seat)) seat += 1;
  seats.add(seat);
  return {
    seat,
    leave() {
      seats.delete(seat);
      if (seats.size === 0) taken.delete(key);
    },
  };
}

const MAX_LOG_BYTES = LIMITS.actionLogBytes.value;
/** Bytes that a log line counts besides its message. */
const LINE_BYTES = 64;

/**
 * Returns what is kept of an action's run (docs/actions.md): its summary, its exports, the last of each name,
 * and what it returned, as far as they fit in this order; and its last log lines. The emitted events come from the child
 * and are not trusted.
 */
export function collectOutput({ emits, logs }: Pick<CallResult, "emits" | "logs">): ActionOutput {
  const exports = new Map<string, unknown>();
  let returned: unknown;
  for (const { event } of emits) {
    const { name, value } = (event ?? {}) as ActionExport;
    if (typeof name === "string") exports.set(name, value ?? null);
    else returned = value ?? null;
  }
  const summary = exports.get("$summary");
  exports.delete("$summary");
  const { fits, isCut } = openBudget(LIMITS.actionOutputBytes.value);
  const output = {
    summary: summary !== undefined && fits(summary) ? textOf(summary) : null,
    exports: Object.fromEntries([...exports].filter(one => fits(one))),
    return_value: fits(returned ?? null) ? (returned ?? null) : null,
  };
  return { ...output, truncated: isCut(), logs: lastLines(logs) };
}

function openBudget(bytes: number) {
  let left = bytes;
  let isCut = false;
  return {
    /** Returns true if the value fits into what is left, as JSON. */
    fits(value: unknown): boolean {
      const size = Buffer.byteLength(JSON.stringify(value));
      if (size > left) {
        isCut = true;
        return false;
      }
      left -= size;
      return true;
    },
    isCut: () => isCut,
  };
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

/** The last lines: what was logged before an error says most about it. */
function lastLines(logs: LogLine[]): LogLine[] {
  let left = MAX_LOG_BYTES;
  const from = logs.findLastIndex(({ message }) => {
    left -= Buffer.byteLength(message) + LINE_BYTES;
    return left < 0;
  });
  return logs.slice(from + 1);
}
