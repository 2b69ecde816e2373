import { type ChildLimits, type ChildMessage, LOG_LINE_BYTES } from "./child/wire.ts";
import type { CallResult, HttpResponse } from "./protocol.ts";

/** Collects what a call gives, and counts it again: the child is not believed. */
export function createCallRecord(
  limits: ChildLimits,
  onRespond: ((response: HttpResponse) => void) | undefined,
) {
  const emits: CallResult["emits"] = [];
  const logs: CallResult["logs"] = [];
  let emitBytes = 0;
  let logBytes = 0;
  let isStarted = false;
  let isCut = false;
  let hasResponded = false;

  function cutLogs(): void {
    if (isCut) return;
    isCut = true;
    const message = `Logs are cut here: a run may write ${Math.round(limits.maxLogBytes / 1024)} KB`;
    logs.push({ level: "warn", message, ts: Date.now() });
  }

  return {
    take(message: ChildMessage, bytes: number, misbehave: (reason: string) => void): void {
      switch (message.kind) {
        case "started":
          isStarted = true;
          break;
        case "emit":
          emitBytes += bytes;
          if (emits.length >= limits.maxEmits || emitBytes > limits.maxRunBytes) misbehave("too many events");
          else emits.push({ event: message.event, metadata: message.metadata });
          break;
        case "log": {
          const { level, message: text, ts } = message;
          logBytes += Buffer.byteLength(text) + LOG_LINE_BYTES;
          if (isCut || logBytes > limits.maxLogBytes + LOG_LINE_BYTES) cutLogs();
          else logs.push({ level, message: text, ts });
          break;
        }
        case "log-cut":
          cutLogs();
          break;
        case "respond": {
          const { status, headers, bodyBase64 } = message;
          if (hasResponded) break;
          hasResponded = true;
          onRespond?.({ status, headers, bodyBase64 });
          break;
        }
      }
    },
    hasStarted: () => isStarted,
    collected: () => ({ emits, logs }),
  };
}
