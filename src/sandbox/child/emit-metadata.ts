import { EMIT_ID_CHARS } from "../../limits/emit-limits.ts";
import type { EmitMetadata } from "../protocol.ts";
import { channelProblem } from "./channel-name.ts";
import { MAX_SUMMARY } from "./wire.ts";

/**
 * Reads the second argument of `$emit` (docs/component-api.md#emit). `id` and `name` affect what happens to the event,
 * so invalid values throw TypeError. `summary` and `ts` only describe it, so invalid values are converted or left out.
 */
export function readMetadata(given: unknown): EmitMetadata {
  if (given === undefined || given === null) return {};
  if (typeof given !== "object") throw new TypeError("The metadata of $emit must be an object");
  const { id, name, summary, ts } = given as Record<string, unknown>;
  const metadata: EmitMetadata = {};
  if (isGiven(id)) metadata.id = readId(id);
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

function readId(id: unknown): string | number {
  if (typeof id === "bigint") return String(id);
  if (typeof id === "number" && Number.isFinite(id)) return id;
  if (typeof id === "string" && id.length <= EMIT_ID_CHARS) return id;
  throw new TypeError(
    `The id of an event must be a number or a string of at most ${EMIT_ID_CHARS} characters`,
  );
}

function readName(name: unknown): string {
  const problem = channelProblem(name);
  if (problem !== undefined) throw new TypeError(`The name of a channel ${problem}`);
  return name as string;
}
