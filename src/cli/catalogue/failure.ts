import {
  ApiError,
  ConnectionError,
  ForbiddenError,
  InternalError,
  InvalidError,
  LimitReachedError,
  RateLimitedError,
  TimeoutError,
  UnauthenticatedError,
} from "../../../clients/typescript/src/index.ts";
import { shortened } from "../output.ts";
import type { Step } from "./outcome.ts";
import { TooLongError } from "./time-limit.ts";

/** What the code of a component threw when it ran. */
export class RunFailedError extends Error {}

const MOST_CHARACTERS = 500;
const PROP = /(?:^|\.)configured_props\.([^.]+)/;

/** Returns true for an error that every other component would meet too: the examination ends, and goes on later. */
export function endsAll(error: unknown): boolean {
  if (error instanceof TimeoutError) return false;
  const kinds = [ConnectionError, UnauthenticatedError, ForbiddenError, LimitReachedError, RateLimitedError];
  return kinds.some(kind => error instanceof kind);
}

/**
 * Returns what an error says about one component; undefined for an error of this program. `accounts` are the apps of which it
 * was given no account: some need none, but an error without one says nothing about the component.
 */
export function failureOf(
  error: unknown,
  accounts: readonly string[],
  readable: (text: string) => string,
): Step | undefined {
  const text = textOf(error);
  if (text === undefined) return undefined;
  const missing = [...new Set([...missingProps(error), ...accounts])].sort();
  if (missing.length > 0) return { result: "needs_props", cause: missing.join(", ") };
  return { result: "failed", cause: shortened(readable(text), MOST_CHARACTERS) };
}

function textOf(error: unknown): string | undefined {
  if (error instanceof InternalError) return `the server failed (request ${error.requestId} in its log)`;
  if (error instanceof ApiError) return error.detail.replace(/^component_url: /, "");
  const isOurs = [TooLongError, RunFailedError, TimeoutError].some(kind => error instanceof kind);
  return isOurs ? (error as Error).message : undefined;
}

/** The names of the props that a deployment lacks; none if anything else was wrong with it. */
function missingProps(error: unknown): string[] {
  if (!(error instanceof InvalidError)) return [];
  const names = error.errors.map(({ path = "", message }) =>
    message.startsWith("is required") ? PROP.exec(path)?.[1] : undefined,
  );
  return names.every(name => name !== undefined) ? names : [];
}
