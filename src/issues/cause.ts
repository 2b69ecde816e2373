import { lineOf } from "../alerts/raise.ts";
import { derivedId, timeOfId } from "../lib/ids.ts";

/** What an attempt ended with, as far as it says why it failed. */
export interface Outcome {
  /** Null if no response arrived. */
  status: number | null;
  /** `<code>: <message>`, or which status it was; null for a success. */
  error: string | null;
}

/** The cause of those whose own are more than a listener may have. */
export const OTHER_CAUSE = "other";
const CODE_CHARS = 64;

/**
 * Returns the kind of error with which an attempt failed, such as `status:503`, `timeout`, `function` (that of the
 * subscription) or `action:TypeError`; null if it succeeded. That of an action is its author's choice, so a listener has only so many
 * (`IssueCounts`).
 */
export function causeOf(listenerId: string, { status, error }: Outcome): string | null {
  if (error === null) return null;
  if (status !== null) return `status:${status}`;
  const code = lineOf(error.split(": ", 1)[0] ?? "", CODE_CHARS) || "Error";
  // A function fails before the action is called.
  return listenerId.startsWith("ac_") && code !== "function" ? `action:${code}` : code;
}

/** Returns the id of the issue of a listener with this cause. Issues sort by the age of their listeners. */
export const issueIdOf = (listenerId: string, cause: string): string =>
  derivedId("iss", timeOfId(listenerId) ?? 0, listenerId, cause);

/** What alerts say of an issue; nothing of one that is not known. */
export const issueDetails = (
  listenerId: string,
  cause: string | null,
): { issue_id?: string; cause?: string } =>
  cause === null ? {} : { issue_id: issueIdOf(listenerId, cause), cause };
