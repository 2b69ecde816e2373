import type { MessageSize } from "./check-message.ts";
import { type ChildLimits, type ChildMessage, LOG_LINE_BYTES, MAX_DB_WRITES } from "./child/wire.ts";
import type { CallResult, HttpResponse } from "./protocol.ts";

export interface CallRecordOptions {
  limits: ChildLimits;
  onRespond: (response: HttpResponse) => void;
  onViolation: (reason: string) => void;
}

/**
 * Collects what a call produces. It enforces the limits again, because the child, which does so first, is not trusted.
 */
export class CallRecord {
  readonly #options: CallRecordOptions;
  readonly #emits: CallResult["emits"] = [];
  readonly #logs: CallResult["logs"] = [];
  #emitBytes = 0;
  #emitParsedBytes = 0;
  #logBytes = 0;
  readonly #dbWrites = new Map<string, unknown>();
  #dbBytes = 0;
  #areLogsTruncated = false;
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
      case "db":
        this.#dbBytes += size.bytes;
        if (this.#dbBytes > MAX_DB_WRITES) this.#options.onViolation("too many writes to the db");
        else this.#dbWrites.set(message.key, message.value);
        break;
    }
  }

  result(): Pick<CallResult, "emits" | "logs"> {
    return { emits: this.#emits, logs: this.#logs };
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
