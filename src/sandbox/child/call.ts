import type { EmitMetadata, HttpResponse, LogLine } from "../protocol.ts";
import { readMetadata } from "./emit-metadata.ts";
import { jsonDepth } from "./json-depth.ts";
import { send, sendJson } from "./port.ts";
import { type ChildLimits, LOG_LINE_BYTES, MAX_DEPTH } from "./wire.ts";

/** One call of the component while it lasts. What comes after its end, from a forgotten timer, is dropped. */
export interface Call {
  emit(event: unknown, metadata?: unknown): void;
  log(level: LogLine["level"], text: () => string): void;
  respond(response: HttpResponse): void;
  /** Fails the call from outside of its own promise chain. */
  fail(error: unknown): void;
  /** Rejects when `fail` was called. */
  failed: Promise<never>;
  /** From now on nothing of this call counts. */
  close(): void;
}

const { stringify } = JSON;
let lateEmits = 0;

/** The events that earlier calls emitted after their end; reading it starts the count anew. */
export function takeLateEmits(): number {
  const count = lateEmits;
  lateEmits = 0;
  return count;
}

export function openCall(call: number, limits: ChildLimits): Call {
  let isOpen = true;
  let emits = 0;
  let emitBytes = 0;
  let logBytes = 0;
  let hasResponded = false;
  let fail: (error: unknown) => void = () => {};
  const failed = new Promise<never>((_, reject) => {
    fail = reject;
  });
  // Nobody may be waiting for it when the call has ended well.
  failed.catch(() => {});

  function emit(event: unknown, metadata?: unknown): void {
    if (!isOpen) {
      lateEmits++;
      return;
    }
    const json = toJson(event);
    const bytes = byteLength(json);
    const meta: EmitMetadata = readMetadata(metadata);
    if (bytes > limits.maxEmitBytes) {
      throw new RangeError(`An event may have ${limits.maxEmitBytes} bytes; this one has ${bytes}`);
    }
    if (emits >= limits.maxEmits) throw new RangeError(`A run may emit ${limits.maxEmits} events`);
    const message = `{"kind":"emit","call":${call},"event":${json},"metadata":${stringify(meta)}}`;
    emitBytes += byteLength(message);
    if (emitBytes > limits.maxRunBytes) {
      throw new RangeError(`A run may emit ${limits.maxRunBytes} bytes in all`);
    }
    emits++;
    sendJson(message);
  }

  function log(level: LogLine["level"], text: () => string): void {
    const room = limits.maxLogBytes - logBytes;
    if (!isOpen || room <= 0) return;
    const message = text();
    const bytes = byteLength(message) + LOG_LINE_BYTES;
    logBytes += bytes;
    const shown = bytes <= room ? message : cutToBytes(message, Math.max(0, room - LOG_LINE_BYTES));
    send({ kind: "log", call, level, message: shown, ts: Date.now() });
    if (logBytes >= limits.maxLogBytes) send({ kind: "log-cut", call });
  }

  return {
    emit,
    log,
    respond(response) {
      if (!isOpen || hasResponded) return;
      hasResponded = true;
      send({ kind: "respond", call, ...response });
    },
    fail,
    failed,
    close() {
      isOpen = false;
    },
  };
}

/** At once, so that what the component changes in the object afterwards is not in the event. */
function toJson(event: unknown): string {
  const json = stringify(event === undefined ? null : event) as string | undefined;
  if (json === undefined) throw new TypeError(`A ${typeof event} can't be emitted: it has no JSON form`);
  if (jsonDepth(json) > MAX_DEPTH) throw new RangeError(`An event may be nested ${MAX_DEPTH} levels deep`);
  return json;
}

export function byteLength(text: string): number {
  return Buffer.byteLength(text);
}

function cutToBytes(text: string, bytes: number): string {
  return Buffer.from(text).subarray(0, bytes).toString("utf8");
}
