/**
 * The lines between host and child. Child to host every line starts with a secret of that child, so that whatever
 * else ends up on its stdout is not taken for a message. The shapes are checked in `check-message`.
 */
import type { CallError, CallRequest, EmitMetadata, HttpResponse, LogLine } from "../protocol.ts";

export interface ChildLimits {
  maxEmits: number;
  /** JSON bytes of one event. */
  maxEmitBytes: number;
  /** JSON bytes of all events of a call. */
  maxRunBytes: number;
  maxLogBytes: number;
  maxDbBytes: number;
  maxResponseBytes: number;
}

export type ParentMessage =
  | {
      kind: "start";
      secret: string;
      gatewayPath: string;
      /** The private temp folder. */
      directory: string;
      /** File of the bundle. */
      modulePath: string;
      limits: ChildLimits;
    }
  | { kind: "call"; call: number; request: CallRequest }
  | { kind: "describe" };

export type ChildMessage =
  | { kind: "loaded" }
  | { kind: "failed"; error: CallError }
  | { kind: "described"; description: unknown }
  | { kind: "refused"; path: string; message: string }
  | { kind: "started"; call: number }
  | { kind: "emit"; call: number; event: unknown; metadata: EmitMetadata }
  | ({ kind: "log"; call: number } & LogLine)
  | { kind: "log-cut"; call: number }
  | ({ kind: "respond"; call: number } & HttpResponse)
  | { kind: "ended"; call: number; error?: CallError; db?: Record<string, unknown> };

/** Bytes that the frame around an event may take: metadata and the message's own names. */
export const FRAME_BYTES = 48 * 1024;
/** What a log line costs besides its text, so that empty lines are not free. */
export const LOG_LINE_BYTES = 32;
/** MongoDB takes 100 levels; deeper values break recursive code on their way there. */
export const MAX_DEPTH = 100;
export const MAX_ERROR_MESSAGE = 8 * 1024;
export const MAX_STACK = 16 * 1024;
export const MAX_EMIT_NAME = 256;
export const MAX_EMIT_ID = 16 * 1024;
export const MAX_SUMMARY = 4 * 1024;
