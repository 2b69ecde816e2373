import { CHANNEL_CHARS } from "../../limits/emit-limits.ts";

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
export function channelProblem(name: unknown): string | undefined {
  if (typeof name !== "string") return "must be a string";
  // Counted as JSON Schema counts, where a pair of surrogates is one character.
  if ([...name.slice(0, 2 * CHANNEL_CHARS + 1)].length > CHANNEL_CHARS) {
    return `must have at most ${CHANNEL_CHARS} characters`;
  }
  if (name.startsWith("$")) return "must not start with $";
  return custom.test(name) ? undefined : "must not contain line breaks or other control characters";
}
