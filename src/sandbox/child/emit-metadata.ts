import { CHANNEL_CHARS, EMIT_ID_CHARS } from "../../limits/emit-limits.ts";
import type { EmitMetadata } from "../protocol.ts";
import { MAX_SUMMARY } from "./wire.ts";

// Stored before a component can replace them.
const { parse, stringify } = JSON;

/** Receives a line for the run's log, which says how a value was taken. */
type Note = (text: string) => void;

/**
 * Reads the second argument of `$emit` (docs/component-api.md#emit). `name` says where the event goes, so an invalid one throws
 * TypeError. The others are converted or left out, because a run must not lose its events for them.
 */
export function readMetadata(given: unknown, note: Note): EmitMetadata {
  if (given === undefined || given === null) return {};
  if (typeof given !== "object") throw new TypeError("The metadata of $emit must be an object");
  const { id, name, summary, ts } = given as Record<string, unknown>;
  const metadata: EmitMetadata = {};
  const read = isGiven(id) ? readId(id, note) : undefined;
  if (read !== undefined) metadata.id = read;
  if (isGiven(name)) metadata.name = readName(name);
  if (isGiven(summary)) metadata.summary = String(summary).slice(0, MAX_SUMMARY);
  if (isGiven(ts)) {
    const ms = typeof ts === "string" && Number.isNaN(Number(ts)) ? Date.parse(ts) : Number(ts);
    if (Number.isFinite(ms)) metadata.ts = ms;
  }
  return metadata;
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** Returns the id as text or number; undefined, and a note, if there is none in it. */
function readId(id: unknown, note: Note): string | number | undefined {
  if (typeof id === "bigint") return String(id);
  if (typeof id === "number" && Number.isFinite(id)) return id;
  if (typeof id === "string") return bounded(id, note);
  const json = jsonOf(id);
  if (json === undefined || json === "null") {
    note(`$emit: an id that is ${typeof id === "number" ? id : "without a JSON form"} counts as none`);
    return undefined;
  }
  note(`$emit: an id of type ${typeOf(id)} is taken as its JSON; use a string or a number`);
  const plain: unknown = parse(json);
  return typeof plain === "number" ? plain : bounded(typeof plain === "string" ? plain : json, note);
}

/** An id that is too long is replaced by its hash, which is as good for telling events apart. */
function bounded(id: string, note: Note): string {
  if (id.length <= EMIT_ID_CHARS) return id;
  note(`$emit: an id of more than ${EMIT_ID_CHARS} characters is taken as its hash`);
  const { createHash } = process.getBuiltinModule("node:crypto");
  return `sha256:${createHash("sha256").update(id).digest("hex")}`;
}

function jsonOf(value: unknown): string | undefined {
  try {
    return stringify(value) as string | undefined;
  } catch {
    return undefined;
  }
}

function typeOf(value: unknown): string {
  if (typeof value !== "object" || value === null) return typeof value;
  return String(value.constructor?.name ?? "object").slice(0, 50);
}

function readName(name: unknown): string {
  const problem = channelProblem(name);
  if (problem !== undefined) throw new TypeError(`The name of a channel ${problem}`);
  return name as string;
}

/** No control character, no line break (U+2028 and U+2029 are two of them) and no half of a surrogate pair. */
const FORBIDDEN = "\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029\\ud800-\\udfff";
const CUSTOM = `[^$${FORBIDDEN}][^${FORBIDDEN}]*`;

/**
 * The rule for the name of a channel (docs/component-api.md#emit), as a regular expression with the flag `u`: empty for
 * the default channel, or a custom one. `$emit`, the host, the queue and the API all check by it.
 */
export const CUSTOM_CHANNEL = `^(?:${CUSTOM})?$`;
/** As `CUSTOM_CHANNEL`, with the two channels that the platform itself emits on. */
export const ANY_CHANNEL = `^(?:\\$errors|\\$logs|${CUSTOM})?$`;

const custom = new RegExp(CUSTOM_CHANNEL, "u");

/** Returns what is wrong with the name of a custom channel, as the end of a sentence; undefined if it is valid. */
function channelProblem(name: unknown): string | undefined {
  if (typeof name !== "string") return "must be a string";
  // Counted as JSON Schema counts, where a pair of surrogates is one character.
  if ([...name.slice(0, 2 * CHANNEL_CHARS + 1)].length > CHANNEL_CHARS) {
    return `must have at most ${CHANNEL_CHARS} characters`;
  }
  if (name.startsWith("$")) return "must not start with $";
  return custom.test(name) ? undefined : "must not contain line breaks or other control characters";
}
