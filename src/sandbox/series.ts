import { createCallRecord } from "./call-record.ts";
import type { ChildLimits, ChildMessage } from "./child/wire.ts";
import type { Meter } from "./meter.ts";
import type { CallError, CallResult, HttpResponse } from "./protocol.ts";

export interface SeriesControl {
  /** Both are told the index of the call. A result comes as soon as its call has ended. */
  onRespond?: ((index: number, response: HttpResponse) => void) | undefined;
  onResult: (index: number, result: CallResult) => void;
}

export interface SeriesOptions extends SeriesControl {
  /** Number of the first call. */
  first: number;
  count: number;
  limits: ChildLimits;
  meter: Meter;
  /** A call has begun; its own time runs from now on. */
  onBegin: () => void;
  misbehave: (reason: string) => void;
}

/** The same value can take a few bytes more when it is written again. */
const DB_SLACK = 1.1;
/** At most, as with `1e20` of four letters and the 21 it has when it is written again. */
const DB_GROWTH = 6;
/** Ends that concern the call itself, started or not. */
const BY_US = new Set(["Timeout", "Cancelled"]);

/** What a child says of calls that follow each other; it must say it in their order, and of no other. */
export function openSeries({ first, count, limits, meter, ...control }: SeriesOptions) {
  let at = 0;
  let hasBegun = false;
  let record = newRecord();

  function newRecord() {
    const index = at;
    return createCallRecord(limits, response => control.onRespond?.(index, response));
  }

  function end(toldMs: number, isLast: boolean, told: Pick<CallResult, "error" | "db">): void {
    const { error, db } = told;
    const result = { ...(error && { error }), ...record.collected(), ...(db && { db }) };
    const index = at++;
    record = newRecord();
    control.onResult(index, { ...result, ...meter.end(toldMs, isLast) });
    if (!isLast) control.onBegin();
  }

  return {
    /** True when no further call will begin. */
    take(message: ChildMessage, bytes: number): boolean {
      const isStart = message.kind === "started";
      if (!("call" in message) || message.call !== first + at || isStart === hasBegun) {
        control.misbehave("it spoke out of turn");
        return false;
      }
      if (isStart) {
        hasBegun = true;
        control.onBegin();
      } else if (message.kind !== "ended") record.take(message, bytes, control.misbehave);
      else if (bytes * DB_GROWTH > limits.maxDbBytes && isTooLarge(message.db, limits.maxDbBytes)) {
        control.misbehave("its db is too large");
      } else {
        const isLast = message.last === true || at === count - 1;
        end(message.ms, isLast, message);
        return isLast;
      }
      return false;
    },
    /** Calls that have ended. */
    done: () => at,
    /** Fails the call under way, if there is one. */
    fail(error: CallError): void {
      if (hasBegun || BY_US.has(error.code)) end(0, true, { error });
    },
  };
}

function isTooLarge(db: Record<string, unknown> | undefined, maxBytes: number): boolean {
  return db !== undefined && Buffer.byteLength(JSON.stringify(db)) > maxBytes * DB_SLACK;
}
