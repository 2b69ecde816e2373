import { type AppError, invalidField } from "../lib/errors.ts";
import { findKey, hasNul, isDeeperThan } from "../lib/json-text.ts";
import { scanJson } from "../lib/scan-json.ts";
import { newAjv } from "../lib/schemas.ts";
import { LIMITS } from "../limits/catalogue.ts";
import { CHANNEL_CHARS, EMIT_ID_CHARS } from "../limits/emit-limits.ts";
import { CUSTOM_CHANNEL } from "./child/emit-metadata.ts";
import {
  type ChildLimits,
  type ChildMessage,
  FRAME_BYTES,
  MAX_COOKIES,
  MAX_ERROR_MESSAGE,
  MAX_SECRET,
  MAX_STACK,
  MAX_SUMMARY,
} from "./child/wire.ts";
import type { ComponentDescription } from "./protocol.ts";

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
  secret: shape({ call, value: { type: "string", minLength: 1, maxLength: MAX_SECRET } }),
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

const flag = { type: "boolean" };

const PROP = {
  type: "object",
  properties: {
    name: { type: "string", minLength: 1, maxLength: 200 },
    type: { type: "string", minLength: 1, maxLength: 200 },
    label: text(1000),
    description: text(20_000),
    default: {},
    optional: flag,
    secret: flag,
    hidden: flag,
    options: { type: "array", maxItems: 10_000 },
    remoteOptions: flag,
    reloadProps: flag,
    useQuery: flag,
    withLabel: flag,
    min: { type: "number" },
    max: { type: "number" },
    static: {},
    customResponse: flag,
    verify: { type: "object" },
    app: text(200),
    appProp: text(200),
    eventNames: {
      type: "array",
      maxItems: LIMITS.eventNames.value,
      items: text(LIMITS.eventNameChars.value),
    },
    remoteEventNames: flag,
    content: text(20_000),
    alertType: text(50),
  },
  required: ["name", "type"],
  additionalProperties: false,
};

const validate = newAjv({ strict: true }).compile({
  type: "object",
  properties: {
    name: { type: "string", minLength: 1, maxLength: 500 },
    key: { type: "string", minLength: 1, maxLength: 500 },
    version: { type: "string", minLength: 1, maxLength: 100 },
    description: text(50_000),
    type: { enum: ["source", "action"] },
    dedupe: { enum: ["unique", "greatest", "last"] },
    // As many as without it are remembered anyway.
    remember: { type: "integer", minimum: 100, maximum: LIMITS.rememberedIds.value },
    props: { type: "array", maxItems: LIMITS.props.value, items: PROP },
    hooks: { type: "array", maxItems: 3, items: { enum: ["deploy", "activate", "deactivate"] } },
    hasRun: flag,
    notFunctions: { type: "array", maxItems: 4, items: text(50) },
    hasSampleEmit: { const: true },
    hasAdditionalProps: { const: true },
  },
  required: ["name", "version", "props", "hooks", "hasRun"],
  additionalProperties: false,
});

/**
 * Checks a component's description, which the child reports (docs/component-api.md#shape). Throws AppError `invalid`
 * that names the first invalid field.
 */
export function checkDescription(given: unknown): ComponentDescription {
  if (validate(given)) {
    checkValues(given as ComponentDescription);
    return given as ComponentDescription;
  }
  const error = validate.errors?.[0];
  // Names the prop as its author did: `props.repo` instead of `props.3`.
  const names = (given as { props?: { name?: unknown }[] } | null)?.props ?? [];
  const pointer = (error?.instancePath ?? "").replace(
    /^\/props\/(\d+)/,
    (_, index) => `/props/${String(names[Number(index)]?.name ?? index)}`,
  );
  throw rejection(pointer, error?.keyword, error?.params as Record<string, unknown>, error?.message);
}

const MAX_DEPTH = LIMITS.jsonDepth.value;
const MAX_BYTES = LIMITS.descriptionBytes.value;

/** Throws `invalid` for what the schema can't say, and for values of props that MongoDB can't store (docs/limits.md). */
function checkValues(description: ComponentDescription): void {
  if (description.remember !== undefined && description.dedupe !== "unique") {
    throw invalidField("component", "dedupe.remember", 'is for the strategy "unique" alone');
  }
  for (const prop of description.props) {
    const path = `props.${prop.name}`;
    if (isDeeperThan(prop, MAX_DEPTH)) {
      throw invalidField("component", path, `is nested deeper than ${MAX_DEPTH} levels`);
    }
    if (findKey(prop, hasNul) !== undefined)
      throw invalidField("component", path, "contains a key with a NUL character");
  }
  if (Buffer.byteLength(JSON.stringify(description)) > MAX_BYTES) {
    throw invalidField(
      "component",
      "props",
      `have more than ${MAX_BYTES / 1024} KB of descriptions and options`,
    );
  }
}

function rejection(
  pointer: string,
  keyword = "",
  params: Record<string, unknown> = {},
  message = "is invalid",
): AppError {
  const path = pointer
    .slice(1)
    .replaceAll("/", ".")
    .replace(/^remember$/, "dedupe.remember");
  if (keyword === "required") {
    const name = String(params.missingProperty);
    return invalidField("component", path ? `${path}.${name}` : name, "is required and must be a string");
  }
  if (path === "type") return invalidField("component", path, 'must be "source", "action" or absent');
  const allowed = Array.isArray(params.allowedValues) ? `: ${params.allowedValues.join(", ")}` : "";
  return invalidField("component", path || "code", `${message}${allowed}`);
}
