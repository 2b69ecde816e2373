import { openQuotaGate } from "../accounts/quota.ts";
import { countRuns } from "../accounts/usage.ts";
import { placeInStack } from "../components/trial/place.ts";
import { Slots } from "../fairness/slots.ts";
import { AppError } from "../lib/errors.ts";
import { LIMITS } from "../limits/catalogue.ts";
import type { Calling } from "../platform.ts";
import type { Bundle } from "../sandbox/bundle.ts";
import { type CallError, type CallResult, isSandboxLost, type LogLine } from "../sandbox/protocol.ts";

/** What a function receives besides the event. */
export interface FunctionMeta {
  event_id: string;
  emitter_id: string;
  /** The channel; empty for the default channel. */
  event_name: string;
  subscription_id: string | null;
  listener_id: string | null;
  /** When the event was emitted. Unix milliseconds. */
  ts: number;
}

export interface FunctionInput {
  event: unknown;
  meta: FunctionMeta;
}

/** Why a function failed on an event. */
export interface FunctionError {
  message: string;
  /** In the code, from 1; null if it is not known. */
  line: number | null;
  column: number | null;
}

/** What a function made of an event. `not-run`: it had no turn, or no sandbox, and nothing is known of the event. */
export type FunctionOutcome =
  | { kind: "event"; event: unknown; logs: LogLine[]; ms: number }
  | { kind: "dropped"; logs: LogLine[]; ms: number }
  | { kind: "failed"; error: FunctionError; logs: LogLine[]; ms: number }
  | { kind: "not-run" };

export interface FunctionCall {
  /** The process that is kept warm for it: calls of one key wait for each other. */
  key: string;
  bundle: Bundle;
  /** The account whose function it is. */
  ownerId: string;
  inputs: FunctionInput[];
  signal?: AbortSignal | undefined;
}

const NOT_RUN: FunctionOutcome = { kind: "not-run" };
const MAX_MESSAGE = 500;

/** Calls of one process. None waits: its events would wait in memory, while their jobs can wait in Redis. */
const slots = new Slots({
  total: LIMITS.functionCalls.value,
  perAccount: LIMITS.functionCallsPerAccount.value,
  waitingPerAccount: 0,
  waiting: 0,
  what: "functions are running",
});

/** Opens what calls functions: see `FunctionCall`. */
export function openCallFunction(platform: Calling): (call: FunctionCall) => Promise<FunctionOutcome[]> {
  const checkQuota = openQuotaGate(platform);
  return async call => {
    try {
      checkQuota(call.ownerId);
    } catch (error) {
      const { message } = error as Error;
      return call.inputs.map(() => failed({ message, line: null, column: null }));
    }
    const outcomes = await slots
      .run(call.ownerId, () => callFunction(platform, call))
      .catch((error: unknown) => {
        if (error instanceof AppError) return call.inputs.map(() => NOT_RUN);
        throw error;
      });
    for (const { kind } of outcomes) platform.metrics.count("function_events_total", { outcome: kind });
    return outcomes;
  };
}

/**
 * Calls a function once for each event, in as few calls of the sandbox as its faults permit: one that ends the process, by an
 * endless loop for example, fails for its own event, and the others go on in another process. The compute time counts against
 * the account's quota. Never throws for anything that the function does.
 */
async function callFunction(
  platform: Calling,
  { key, bundle, ownerId, inputs, signal }: FunctionCall,
): Promise<FunctionOutcome[]> {
  const outcomes = inputs.map(() => NOT_RUN);
  const endsAt = performance.now() + LIMITS.functionCallMs.value;
  let computeMs = 0;
  let done = 0;
  try {
    const sandboxes = await platform.sandboxes();
    for (let leftMs = LIMITS.functionCallMs.value; done < inputs.length && leftMs > 0; ) {
      const first = done;
      platform.metrics.count("function_calls_total", {});
      done += await sandboxes.callBatch(
        key,
        bundle,
        { call: "run", props: {}, db: {}, events: inputs.slice(first) },
        {
          owner: ownerId,
          wallMs: LIMITS.functionMs.value,
          startWithinMs: leftMs,
          ...(signal && { signal }),
          onResult(index, result) {
            computeMs += result.durationMs;
            outcomes[first + index] = signal?.aborted ? NOT_RUN : outcomeOf(result);
          },
        },
      );
      if (signal?.aborted) break;
      leftMs = endsAt - performance.now();
    }
  } catch (error) {
    // No sandbox can be started now; what has an outcome keeps it.
    if (!(error instanceof AppError)) throw error;
  }
  if (computeMs > 0) void countRuns(platform, ownerId, 0, computeMs).catch(() => undefined);
  return outcomes;
}

function outcomeOf({ error, emits, logs, durationMs: ms }: CallResult): FunctionOutcome {
  if (isSandboxLost(error)) return NOT_RUN;
  if (error) return failed(errorOf(error), logs, ms);
  const [emitted] = emits;
  if (!emitted) return { kind: "dropped", logs: shortened(logs), ms };
  return { kind: "event", event: emitted.event, logs: shortened(logs), ms };
}

const failed = (error: FunctionError, logs: LogLine[] = [], ms = 0): FunctionOutcome => ({
  kind: "failed",
  error,
  logs: shortened(logs),
  ms,
});

/** The sandbox speaks of components and runs. */
function errorOf({ message, stack }: CallError): FunctionError {
  const shown = message
    .replace(/^The component ran longer/, "it ran longer")
    .replace(/^The component/, "the function");
  return { message: shown.slice(0, MAX_MESSAGE), ...placeInStack(stack) };
}

/** Returns an error as text for an attempt: `function: x is not defined (line 3, column 9)`. */
export function functionErrorText({ message, line, column }: FunctionError): string {
  return `function: ${message}${line === null ? "" : ` (line ${line}, column ${column})`}`;
}

/** Returns the first lines, as far as they are kept. */
function shortened(logs: LogLine[]): LogLine[] {
  const kept: LogLine[] = [];
  let left = LIMITS.functionLogBytes.value;
  for (const line of logs) {
    left -= Buffer.byteLength(line.message);
    if (left < 0) break;
    kept.push(line);
  }
  return kept;
}
