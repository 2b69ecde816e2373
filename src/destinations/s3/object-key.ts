import { eventMs } from "../../lib/event-id.ts";
import type { Message } from "../message.ts";

export const DEFAULT_KEY = "{date}/{emitter_id}/{event_id}.json";

const PLACEHOLDER = /\{(\w*)\}/g;

type Named = Pick<Message, "id" | "eventId" | "emitterId" | "eventName">;

const VALUES: Record<string, (message: Named) => string> = {
  id: ({ id }) => id,
  event_id: ({ eventId }) => eventId,
  emitter_id: ({ emitterId }) => emitterId,
  event_name: ({ eventName }) => encodeURIComponent(eventName),
  date: message => momentOf(message).slice(0, 10),
  hour: message => momentOf(message).slice(11, 13),
};

/** When the event was emitted: the same for each attempt, so that a repeat overwrites the same object. */
const momentOf = ({ eventId }: Named) => new Date(eventMs(eventId)).toISOString();

/** Returns what is wrong with a pattern of object keys; undefined if it gives each event a key of its own. */
export function keyProblem(pattern: string): string | undefined {
  const names = [...pattern.matchAll(PLACEHOLDER)].map(([, name = ""]) => name);
  const unknown = names.find(name => !Object.hasOwn(VALUES, name));
  if (unknown !== undefined) {
    return `{${unknown}} is none of ${Object.keys(VALUES)
      .map(name => `{${name}}`)
      .join(", ")}`;
  }
  if (/[{}]/.test(pattern.replace(PLACEHOLDER, ""))) return "must have a name between { and }";
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what a key must not have
  if (/[\x00-\x1f\x7f]/.test(pattern)) return "must have no control characters";
  if (pattern.split("/").some(part => part === "" || part === "." || part === "..")) {
    return "must have no empty part, . or .. between slashes, and none at its ends";
  }
  if (names.includes("id") || (names.includes("emitter_id") && names.includes("event_id"))) return undefined;
  return "must have {id}, or {emitter_id} and {event_id}: otherwise events overwrite each other";
}

/** Returns the key of an event's object. */
export const objectKey = (pattern: string, message: Named): string =>
  pattern.replace(PLACEHOLDER, (_, name: string) => VALUES[name]?.(message) ?? "");
