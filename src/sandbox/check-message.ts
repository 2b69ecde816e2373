import { newAjv } from "../lib/new-ajv.ts";
import { scanJson } from "../lib/scan-json.ts";
import { CHANNEL_CHARS, EMIT_ID_CHARS } from "../limits/emit-limits.ts";
import { CUSTOM_CHANNEL } from "./child/channel-name.ts";
import {
  type ChildLimits,
  type ChildMessage,
  FRAME_BYTES,
  MAX_COOKIES,
  MAX_ERROR_MESSAGE,
  MAX_STACK,
  MAX_SUMMARY,
} from "./child/wire.ts";

const text = (maxLength: number) => ({ type: "string", maxLength });
const call = { type: "integer", minimum: 0 };
const error = shape({ code: text(100), message: text(MAX_ERROR_MESSAGE), stack: text(MAX_STACK) });

const metadata = shape(
  {
    id: { type: ["string", "number"], maxLength: EMIT_ID_CHARS },
    name: { ...text(CHANNEL_CHARS), pattern: CUSTOM_CHANNEL },
    summary: text(MAX_SUMMARY),
    ts: { type: "number" },
  },
  ["id", "name", "summary", "ts"],
);

const SHAPES: Record<ChildMessage["kind"], object> = {
  loaded: shape({}),
  failed: shape({ error }),
  stray: shape({ error }),
  described: shape({ description: {} }),
  rejected: shape({ path: text(500), message: text(MAX_ERROR_MESSAGE) }),
  started: shape({ call }),
  emit: shape({ call, event: {}, metadata }),
  log: shape({
    call,
    level: { enum: ["debug", "info", "warn", "error"] },
    message: { type: "string" },
    ts: { type: "integer" },
  }),
  "log-cut": shape({ call }),
  respond: shape({
    call,
    status: { type: "integer", minimum: 200, maximum: 599 },
    headers: {
      type: "object",
      maxProperties: 200,
      additionalProperties: {
        anyOf: [text(8192), { type: "array", maxItems: MAX_COOKIES, items: text(8192) }],
      },
    },
    bodyBase64: { type: "string" },
  }),
  db: shape({ call, key: { type: "string" }, value: {} }, ["value"]),
  ended: shape(
    {
      ...{ call, ms: { type: "number", minimum: 0 }, last: { const: true } },
      ...{ error, unauthorized: { const: true }, db: { type: "object" } },
    },
    ["last", "error", "unauthorized", "db"],
  ),
};

function shape(properties: Record<string, object>, optional: string[] = []) {
  return {
    type: "object",
    properties: { kind: { type: "string" }, ...properties } as Record<string, object>,
    required: Object.keys(properties).filter(name => !optional.includes(name)),
    additionalProperties: false,
  };
}

const ajv = newAjv({ strict: true, allowUnionTypes: true });
const validators = new Map(Object.entries(SHAPES).map(([kind, schema]) => [kind, ajv.compile(schema)]));

/** A line of the child that is not a message of the protocol. */
export class ProtocolViolation extends Error {}

/** The length of a message's line, and about how much memory the parsed message takes. */
export interface MessageSize {
  bytes: number;
  parsedBytes: number;
}

/** Levels of a message around an event (`emit`) or a value of the db (`ended`). */
const FRAME_LEVELS = 2;

/**
 * Parses one line of the untrusted child. Throws ProtocolViolation.
 */
export function readMessage(
  line: string,
  {
    maxEmitBytes,
    maxEmitParsedBytes,
    maxDepth,
  }: Pick<ChildLimits, "maxEmitBytes" | "maxEmitParsedBytes" | "maxDepth">,
): { message: ChildMessage; size: MessageSize } {
  const { depth, parsedBytes } = scanJson(line);
  if (depth > maxDepth + FRAME_LEVELS) throw new ProtocolViolation("a message is nested too deeply");
  let message: ChildMessage;
  try {
    message = JSON.parse(line) as ChildMessage;
  } catch {
    throw new ProtocolViolation("a message is not JSON");
  }
  const validate = validators.get(message?.kind);
  if (!validate?.(message)) throw new ProtocolViolation("a message has the wrong shape");
  const bytes = Buffer.byteLength(line);
  if (message.kind === "emit" && bytes > maxEmitBytes + FRAME_BYTES) {
    throw new ProtocolViolation("an event is too large");
  }
  if (message.kind === "emit" && parsedBytes > maxEmitParsedBytes + 2 * FRAME_BYTES) {
    throw new ProtocolViolation("an event has too many values");
  }
  return { message, size: { bytes, parsedBytes } };
}
