import type { CallError } from "../protocol.ts";
import { MAX_ERROR_MESSAGE, MAX_STACK } from "./wire.ts";

/** Frames that are ours or deno's say nothing to the component's author. */
const FOREIGN_FRAME = /^\s+at (?:.*[ (])?(?:ext:|node:|file:\S*\/prelude\.js)/;

/** Where the bundle lies, and what a stack says instead: it names the component's own files. */
let places: [string, string][] = [];

export function hideModulePath(moduleUrl: URL): void {
  places = [
    [moduleUrl.href, "component.mjs"],
    [new URL(".", moduleUrl).href, ""],
    [new URL("..", moduleUrl).href, ""],
  ];
}

/** What was thrown, whatever it is, as the host reports it. */
export function describeError(thrown: unknown): CallError {
  const error = isErrorLike(thrown) ? thrown : new Error(textOf(thrown));
  const name = typeof error.name === "string" && error.name ? error.name : "Error";
  return {
    code: name.slice(0, 100),
    message: shown(textOf(error.message)).slice(0, MAX_ERROR_MESSAGE),
    stack: stackOf(error, 0).slice(0, MAX_STACK),
  };
}

function stackOf(error: ErrorLike, depth: number): string {
  const own = textOf(error.stack ?? `${error.name}: ${error.message}`)
    .split("\n")
    .filter(line => !FOREIGN_FRAME.test(line))
    .join("\n");
  const stack = shown(own);
  // undici says only "fetch failed"; the reason is the cause.
  return depth < 3 && isErrorLike(error.cause)
    ? `${stack}\nCaused by: ${stackOf(error.cause, depth + 1)}`
    : stack;
}

function shown(text: string): string {
  return places.reduce((rest, [place, instead]) => rest.replaceAll(place, instead), text);
}

interface ErrorLike {
  name?: unknown;
  message: unknown;
  stack?: unknown;
  cause?: unknown;
}

function isErrorLike(value: unknown): value is ErrorLike {
  return typeof value === "object" && value !== null && "message" in value;
}

function textOf(value: unknown): string {
  try {
    return typeof value === "object" && value !== null ? JSON.stringify(value) : String(value);
  } catch {
    return "unreadable value";
  }
}
