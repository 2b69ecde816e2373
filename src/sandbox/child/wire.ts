/**
 * The lines between host and child. Child to host every line starts with a secret of that child, so that whatever
 * else ends up on its stdout is not taken for a message. The shapes are checked in `check-message`.
 */
import type { CallError, CallsRequest, EmitMetadata, HttpResponse, LogLine } from "../protocol.ts";

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
  | {
      kind: "calls";
      /** Number of the first call; that of each further event is one higher. */
      call: number;
      request: CallsRequest;
      /** No call is begun later than this many milliseconds after the first. */
      forMs: number;
    }
  | { kind: "describe" };

/** The message `calls` with events that are JSON already. */
export function callsMessage(message: {
  call: number;
  request: CallsRequest;
  events: string[];
  forMs: number;
}): string {
  const { call, request, events, forMs } = message;
  const { props, db } = request;
  // The events come last, and so do their brackets.
  const without = { call: request.call, props, db, events: [] };
  const head: ParentMessage = { kind: "calls", call, forMs, request: without };
  return JSON.stringify(head).replace(/\]\}\}$/, () => `${events.join(",")}]}}`);
}

export type ChildMessage =
  | { kind: "loaded" }
  | { kind: "failed"; error: CallError }
  | { kind: "described"; description: unknown }
  | { kind: "refused"; path: string; message: string }
  /** The first of some calls has begun. */
  | { kind: "started"; call: number }
  | { kind: "emit"; call: number; event: unknown; metadata: EmitMetadata }
  | ({ kind: "log"; call: number } & LogLine)
  | { kind: "log-cut"; call: number }
  | ({ kind: "respond"; call: number } & HttpResponse)
  /** One call has ended after `ms` milliseconds; the next one has begun, unless it was the `last` or no event is left. */
  | { kind: "ended"; call: number; ms: number; last?: true; error?: CallError; db?: Record<string, unknown> };

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
