import { CallRecord } from "./call-record.ts";
import type { MessageSize } from "./check-message.ts";
import type { ChildLimits, ChildMessage } from "./child/wire.ts";
import type { CallError, CallResult, HttpResponse } from "./protocol.ts";
import type { UsageTracker } from "./usage-tracker.ts";

/** Both receive the index of the call in its batch. */
export interface CallListeners {
  onRespond?: ((index: number, response: HttpResponse) => void) | undefined;
  /** Called as soon as the call has ended. */
  onResult: (index: number, result: CallResult) => void;
}

export interface CallSequenceOptions extends CallListeners {
  /** Number of the first call. */
  firstCall: number;
  count: number;
  /** The db that the first call has. */
  db: Record<string, unknown>;
  limits: ChildLimits;
  usage: UsageTracker;
  /** A call has started; its own time runs from now on. */
  onCallStart: () => void;
  onViolation: (reason: string) => void;
}

/** `JSON.stringify` may write a value with a few more bytes than the child used. */
const DB_SLACK = 1.1;
/** The most by which a value can grow when it is written again: `1e20`, which has four characters, becomes 21. */
const DB_GROWTH = 6;
/** Errors that the host caused. They are the result of the first call even if the child has not started it. */
const CAUSED_BY_HOST = new Set(["Timeout", "Cancelled"]);

/**
 * The messages of a child about the calls of one batch. The child must report the calls in their order, and no others;
 * anything else is a violation of the protocol.
 */
export class CallSequence {
  readonly #options: CallSequenceOptions;
  #completed = 0;
  #hasStarted = false;
  #record: CallRecord;
  /** As the last call that ended left it. */
  #db: Record<string, unknown>;

  constructor(options: CallSequenceOptions) {
    this.#options = options;
    this.#db = options.db;
    this.#record = this.#newRecord();
  }

  /** How many calls have ended. */
  get completed(): number {
    return this.#completed;
  }

  /** Handles a message. Returns true if no further call will start. */
  handle(message: ChildMessage, size: MessageSize): boolean {
    const { firstCall, count, limits, onCallStart, onViolation } = this.#options;
    const isStart = message.kind === "started";
    const isCurrent = "call" in message && message.call === firstCall + this.#completed;
    if (!isCurrent || isStart === this.#hasStarted) {
      onViolation("it sent a message out of order");
      return false;
    }
    if (isStart) {
      this.#hasStarted = true;
      onCallStart();
    } else if (message.kind !== "ended") this.#record.add(message, size);
    else if (size.bytes * DB_GROWTH > limits.maxDbBytes && isDbTooLarge(message.db, limits.maxDbBytes)) {
      onViolation("the db is too large");
    } else {
      const isLast = message.last === true || this.#completed === count - 1;
      this.#endCall(message.ms, isLast, message);
      return isLast;
    }
    return false;
  }

  /** The process has ended: fails the call under way, if there is one. What it set in the db by then counts, as its events do. */
  fail(error: CallError): void {
    if (!this.#hasStarted && !CAUSED_BY_HOST.has(error.code)) return;
    const db = this.#record.dbAfter(this.#db);
    const isKept = db !== undefined && !isDbTooLarge(db, this.#options.limits.maxDbBytes);
    this.#endCall(0, true, { error, ...(isKept && { db }) });
  }

  #newRecord(): CallRecord {
    const { limits, onRespond, onViolation } = this.#options;
    const index = this.#completed;
    return new CallRecord({ limits, onViolation, onRespond: response => onRespond?.(index, response) });
  }

  #endCall(
    reportedMs: number,
    isLast: boolean,
    { error, unauthorized, db }: Pick<CallResult, "error" | "unauthorized" | "db">,
  ): void {
    const { usage, onResult, onCallStart } = this.#options;
    const result = {
      ...(error && { error }),
      ...(unauthorized && { unauthorized }),
      ...this.#record.result(),
      ...(db && { db }),
    };
    this.#db = db ?? this.#db;
    const index = this.#completed++;
    this.#record = this.#newRecord();
    onResult(index, { ...result, ...usage.endCall(reportedMs, isLast) });
    if (!isLast) onCallStart();
  }
}

function isDbTooLarge(db: Record<string, unknown> | undefined, maxBytes: number): boolean {
  return db !== undefined && Buffer.byteLength(JSON.stringify(db)) > maxBytes * DB_SLACK;
}
