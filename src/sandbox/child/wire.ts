/**
 * The messages between host and child: one JSON object a line, to the child on its stdin, to the host on its stdout.
 * Each line of the child starts with its secret, so that other output is not mistaken for a message. The host does not
 * trust the child: `check-message.ts` checks each message against a schema, `call-sequence.ts` checks the order.
 */
import { VERIFY_LIMITS } from "../../limits/verify-limits.ts";
import type { BatchRequest, CallError, EmitMetadata, HttpResponse, LogLine } from "../protocol.ts";

export interface ChildLimits {
  maxEmits: number;
  /** JSON bytes of one event. */
  maxEmitBytes: number;
  /** JSON bytes of all events of a call. */
  maxRunBytes: number;
  /** Bytes that all events of a call take in the host's memory, as `parsedBytes` estimates them. */
  maxRunParsedBytes: number;
  maxLogBytes: number;
  maxDbBytes: number;
  maxResponseBytes: number;
  /** Levels to which an event, or a value of the db, may be nested. */
  maxDepth: number;
  /** Bytes that one event takes in memory, as `parsedBytes` estimates them. */
  maxEmitParsedBytes: number;
}

export type ParentMessage =
  | {
      kind: "start";
      secret: string;
      gatewayPath: string;
      privateFolder: string;
      /** True if several sources may use the process: each has its own instance of the module, and its own folder. */
      isShared: boolean;
      /** File that contains the bundle. */
      modulePath: string;
      limits: ChildLimits;
    }
  /** Loads the module for a further source. The first one, 0, is loaded at the start. */
  | { kind: "load"; source: number }
  | {
      kind: "calls";
      /** Number of the source in this process. */
      source: number;
      /** Number of the first call. The call of each further event has the next number. */
      call: number;
      request: BatchRequest;
      /** No call starts later than this many milliseconds after the first. */
      startWithinMs: number;
    }
  | { kind: "describe" };

/** Returns the JSON of a `calls` message whose events are JSON already. */
export function callsMessage(message: {
  source: number;
  call: number;
  request: BatchRequest;
  events: string[];
  startWithinMs: number;
}): string {
  const { source, call, request, events, startWithinMs } = message;
  const { props, db, added, stopsUnauthorized } = request;
  // `events` is the last property, so that its closing bracket is at the end of the JSON.
  const withoutEvents = { call: request.call, props, added, stopsUnauthorized, db, events: [] };
  const empty: ParentMessage = { kind: "calls", source, call, startWithinMs, request: withoutEvents };
  return JSON.stringify(empty).replace(/\]\}\}$/, () => `${events.join(",")}]}}`);
}

export type ChildMessage =
  | { kind: "loaded" }
  | { kind: "failed"; error: CallError }
  /** An error between two calls, that of a promise for example, after which the process ends. */
  | { kind: "stray"; error: CallError }
  | { kind: "described"; description: unknown }
  | { kind: "rejected"; path: string; message: string }
  /** The first call of a `calls` message has started. */
  | { kind: "started"; call: number }
  | { kind: "emit"; call: number; event: unknown; metadata: EmitMetadata }
  | ({ kind: "log"; call: number } & LogLine)
  | { kind: "log-cut"; call: number }
  | ({ kind: "respond"; call: number } & HttpResponse)
  /** A hook has set the secret by which the requests of its source are verified. */
  | { kind: "secret"; call: number; value: string }
  /** The call has set a value of the db, or deleted it. `ended` has the whole db again. */
  | { kind: "db"; call: number; key: string; value?: unknown }
  /**
   * A call has ended after `ms` milliseconds. The next one has started, unless this was the `last` or no event is left.
   */
  | {
      kind: "ended";
      call: number;
      ms: number;
      last?: true;
      error?: CallError;
      unauthorized?: true;
      db?: Record<string, unknown>;
    };

/** Bytes that an `emit` message may have besides its event: the metadata and the names of the message itself. */
export const FRAME_BYTES = 48 * 1024;
/** Bytes that a log line counts besides its text, so that empty lines are limited too. */
export const LOG_LINE_BYTES = 32;
/** Bytes of the `db` messages of a call; later ones are not sent, so that only `ended` has what they set. */
export const MAX_DB_WRITES = 8 * 1024 * 1024;
/** Characters of the secret that a hook sets. */
export const MAX_SECRET = VERIFY_LIMITS.verifySecretChars.value;
/** Values of `Set-Cookie` in one response. */
export const MAX_COOKIES = 50;
/** Begins the name of each of the component's own files in a source map, so that deno makes no path of this machine of it. */
export const OWN_FILE = "own:";
export const MAX_ERROR_MESSAGE = 8 * 1024;
export const MAX_STACK = 16 * 1024;
export const MAX_SUMMARY = 4 * 1024;
/** What an action exports: values of an attempt, characters of a name, JSON bytes and levels of a value. */
export const MAX_EXPORTS = 50;
export const MAX_EXPORT_NAME = 100;
export const MAX_EXPORT = 4 * 1024;
export const MAX_EXPORT_DEPTH = 20;

/**
 * How a bundle in the form of a script begins: it is a function that gets `exports`, `require` and `module`, followed by its
 * source map. Any other bundle is a module.
 */
export const SCRIPT_START = '(function(exports,require,module){"use strict";';
