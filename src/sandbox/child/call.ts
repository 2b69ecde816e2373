import { scanJson } from "../../lib/scan-json.ts";
import type { EmitMetadata, HttpResponse, LogLine } from "../protocol.ts";
import { readMetadata } from "./emit-metadata.ts";
import { send, sendJson } from "./port.ts";
import { type ChildLimits, LOG_LINE_BYTES, MAX_DB_WRITES } from "./wire.ts";

/** One call of the component. After its end, for example from a timer that was not cleared, everything is dropped. */
export interface Call {
  emit(event: unknown, metadata?: unknown): void;
  log(level: LogLine["level"], text: () => string): void;
  /** Sends a value of the db, which counts if the process is ended before the call ends. */
  write(key: string, json: string | undefined): void;
  respond(response: HttpResponse): void;
  /** Sends the secret by which requests are to be verified. Throws if the call has sent one. */
  setSecret(secret: string): void;
  /** What it has sent as a secret: none of its errors shows it. */
  readonly secrets: readonly string[];
  /** Fails the call with an error that its own promise did not reject with. */
  fail(error: unknown): void;
  /** Rejects when `fail` is called. */
  failed: Promise<never>;
  /** Ends the call: from now on, everything it produces is dropped. */
  close(): void;
}

/** More than the objects and keys of an `emit` message take around its event, which the host counts too. */
const FRAME_PARSED_BYTES = 640;

const { stringify } = JSON;
let lateEmits = 0;

/** Returns how many events earlier calls emitted after their end, and resets the count. */
export function resetLateEmits(): number {
  const count = lateEmits;
  lateEmits = 0;
  return count;
}

export function openCall(call: number, limits: ChildLimits): Call {
  let isOpen = true;
  let emits = 0;
  let emitBytes = 0;
  let emitParsedBytes = 0;
  let logBytes = 0;
  let dbBytes = 0;
  let hasResponded = false;
  const secrets: string[] = [];
  const notes = new Set<string>();
  let fail: (error: unknown) => void = () => {};
  const failed = new Promise<never>((_, reject) => {
    fail = reject;
  });
  // Without a handler, a failure after the end of the call would be an unhandled rejection.
  failed.catch(() => {});

  /** Once for each text: a run may emit thousands of events that are alike. */
  function note(text: string): void {
    if (notes.has(text)) return;
    notes.add(text);
    log("warn", () => text);
  }

  function emit(event: unknown, metadata?: unknown): void {
    if (!isOpen) {
      lateEmits++;
      return;
    }
    const json = toJson(event);
    const { depth, parsedBytes } = scanJson(json);
    if (depth > limits.maxDepth) {
      throw new RangeError(`An event can be nested at most ${limits.maxDepth} levels deep`);
    }
    const bytes = byteLength(json);
    if (bytes > limits.maxEmitBytes) {
      throw new RangeError(`An event can have at most ${limits.maxEmitBytes} bytes; this one has ${bytes}`);
    }
    if (parsedBytes > limits.maxEmitParsedBytes) {
      throw new RangeError("An event can't have so many arrays, objects and values");
    }
    const meta: EmitMetadata = readMetadata(metadata, note);
    if (emits >= limits.maxEmits) throw new RangeError(`A run can emit at most ${limits.maxEmits} events`);
    const message = `{"kind":"emit","call":${call},"event":${json},"metadata":${stringify(meta)}}`;
    emitBytes += byteLength(message);
    if (emitBytes > limits.maxRunBytes) {
      throw new RangeError(`A run can emit at most ${limits.maxRunBytes} bytes in total`);
    }
    emitParsedBytes += parsedBytes + message.length - json.length + FRAME_PARSED_BYTES;
    if (emitParsedBytes > limits.maxRunParsedBytes) {
      throw new RangeError("A run can't emit so many arrays, objects and values in total");
    }
    emits++;
    sendJson(message);
  }

  function log(level: LogLine["level"], text: () => string): void {
    const remaining = limits.maxLogBytes - logBytes;
    if (!isOpen || remaining <= 0) return;
    const message = text();
    const bytes = byteLength(message) + LOG_LINE_BYTES;
    logBytes += bytes;
    const shown = bytes <= remaining ? message : truncate(message, Math.max(0, remaining - LOG_LINE_BYTES));
    send({ kind: "log", call, level, message: shown, ts: Date.now() });
    if (logBytes >= limits.maxLogBytes) send({ kind: "log-cut", call });
  }

  function write(key: string, json: string | undefined): void {
    const message = `{"kind":"db","call":${call},"key":${stringify(key)}${json === undefined ? "" : `,"value":${json}`}}`;
    dbBytes += byteLength(message);
    if (dbBytes <= MAX_DB_WRITES) sendJson(message);
  }

  return {
    emit,
    log,
    write,
    respond(response) {
      if (!isOpen || hasResponded) return;
      hasResponded = true;
      send({ kind: "respond", call, ...response });
    },
    setSecret(secret) {
      if (!isOpen) return;
      if (secrets.length > 0) throw new Error("setSecret: this hook has called it before");
      secrets.push(secret);
      send({ kind: "secret", call, value: secret });
    },
    secrets,
    fail,
    failed,
    close() {
      isOpen = false;
    },
  };
}

/** Converts an event right away, so that later changes of the object do not change the event. */
function toJson(event: unknown): string {
  const json = stringify(event === undefined ? null : event) as string | undefined;
  if (json === undefined)
    throw new TypeError(`A ${typeof event} can't be emitted, because it has no JSON form`);
  return json;
}

export function byteLength(text: string): number {
  return Buffer.byteLength(text);
}

function truncate(text: string, bytes: number): string {
  return Buffer.from(text).subarray(0, bytes).toString("utf8");
}
