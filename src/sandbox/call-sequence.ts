import type { MessageSize } from "./check-message.ts";
import { type ChildLimits, type ChildMessage, LOG_LINE_BYTES, MAX_DB_WRITES } from "./child/wire.ts";
import type { UsageTracker } from "./process-usage.ts";
import type { CallError, CallResult, HttpResponse } from "./protocol.ts";

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

export interface CallRecordOptions {
  limits: ChildLimits;
  onRespond: (response: HttpResponse) => void;
  onViolation: (reason: string) => void;
}

/**
 * Collects what a call produces. It enforces the limits again, because the child, which does so first, is not trusted.
 */
class CallRecord {
  readonly #options: CallRecordOptions;
  readonly #emits: CallResult["emits"] = [];
  readonly #logs: CallResult["logs"] = [];
  #emitBytes = 0;
  #emitParsedBytes = 0;
  #logBytes = 0;
  readonly #dbWrites = new Map<string, unknown>();
  #dbBytes = 0;
  #areLogsTruncated = false;
  #secret: string | undefined;
  #hasResponded = false;

  constructor(options: CallRecordOptions) {
    this.#options = options;
  }

  /** Adds a message of the call. */
  add(message: ChildMessage, size: MessageSize): void {
    switch (message.kind) {
      case "emit":
        this.#addEmit(message, size);
        break;
      case "log":
        this.#addLog(message);
        break;
      case "log-cut":
        this.#truncateLogs();
        break;
      case "respond":
        this.#respond(message);
        break;
      case "secret":
        if (this.#secret !== undefined) this.#options.onViolation("it set a secret twice");
        else this.#secret = message.value;
        break;
      case "db":
        this.#dbBytes += size.bytes;
        if (this.#dbBytes > MAX_DB_WRITES) this.#options.onViolation("too many writes to the db");
        else this.#dbWrites.set(message.key, message.value);
        break;
    }
  }

  result(): Pick<CallResult, "emits" | "logs" | "secret"> {
    const secret = this.#secret;
    return { emits: this.#emits, logs: this.#logs, ...(secret !== undefined && { secret }) };
  }

  /** Returns the db as the call left it that had this one at its start; undefined if it set nothing. */
  dbAfter(before: Record<string, unknown>): Record<string, unknown> | undefined {
    if (this.#dbWrites.size === 0) return undefined;
    const entries = new Map(Object.entries(before));
    for (const [key, value] of this.#dbWrites) {
      if (value === undefined) entries.delete(key);
      else entries.set(key, value);
    }
    return Object.fromEntries(entries);
  }

  #addEmit({ event, metadata }: ChildMessage & { kind: "emit" }, { bytes, parsedBytes }: MessageSize): void {
    const { limits, onViolation } = this.#options;
    this.#emitBytes += bytes;
    this.#emitParsedBytes += parsedBytes;
    const isTooLarge =
      this.#emitBytes > limits.maxRunBytes || this.#emitParsedBytes > limits.maxRunParsedBytes;
    if (this.#emits.length >= limits.maxEmits || isTooLarge) onViolation("too many events");
    else this.#emits.push({ event, metadata });
  }

  #addLog({ level, message, ts }: ChildMessage & { kind: "log" }): void {
    this.#logBytes += Buffer.byteLength(message) + LOG_LINE_BYTES;
    const isOver = this.#logBytes > this.#options.limits.maxLogBytes + LOG_LINE_BYTES;
    if (this.#areLogsTruncated || isOver) this.#truncateLogs();
    else this.#logs.push({ level, message, ts });
  }

  #truncateLogs(): void {
    if (this.#areLogsTruncated) return;
    this.#areLogsTruncated = true;
    const limitKb = Math.round(this.#options.limits.maxLogBytes / 1024);
    const message = `The logs are truncated here: a run can log at most ${limitKb} KB`;
    this.#logs.push({ level: "warn", message, ts: Date.now() });
  }

  #respond({ status, headers, bodyBase64 }: ChildMessage & { kind: "respond" }): void {
    if (this.#hasResponded) return;
    this.#hasResponded = true;
    this.#options.onRespond({ status, headers, bodyBase64 });
  }
}
