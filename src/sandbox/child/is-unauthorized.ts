import { statusOf } from "./vendor-response.ts";

/** How texts say it, such as "Request failed with status code 401", "HTTP 401" or "401 Unauthorized". */
const SAYS_SO = /^\W*401\b|\b401\W{1,3}unauthori[sz]ed|\b(?:status|code|http|error|response)\W{0,3}401\b/i;
const MAX_CHARS = 2000;
const MAX_CAUSES = 3;

/**
 * True if what code threw says that a server rejected its credentials: HTTP 401. HTTP clients differ in where they say it: in
 * `status`, `statusCode` or `code`, in those of `response`, or in the message alone.
 */
export function isUnauthorized(thrown: unknown): boolean {
  try {
    return saysUnauthorized(thrown, 0);
  } catch {
    // A getter of the code's own.
    return false;
  }
}

function saysUnauthorized(thrown: unknown, depth: number): boolean {
  if (typeof thrown !== "object" || thrown === null) return isText(thrown) && saysSo(thrown);
  const { message, cause } = thrown as Record<string, unknown>;
  const said = statusOf(thrown);
  if (said !== undefined) return said === 401;
  if (isText(message) && saysSo(message)) return true;
  return depth < MAX_CAUSES && cause !== undefined && saysUnauthorized(cause, depth + 1);
}

const isText = (value: unknown): value is string => typeof value === "string";
const saysSo = (text: string): boolean => SAYS_SO.test(text.slice(0, MAX_CHARS));
