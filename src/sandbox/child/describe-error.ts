import type { CallError } from "../protocol.ts";
import { MAX_ERROR_MESSAGE, MAX_STACK } from "./wire.ts";

/** Stack frames of Headwater and of deno, which are of no use to the component's author. */
const FOREIGN_FRAME = /^\s+at (?:.*[ (])?(?:ext:|node:|file:\S*\/prelude\.js)/;

/** The bundle as it is loaded for the second and each further source of a shared process. */
const FURTHER_SOURCE = /component\.mjs\?source=\d+/g;

/** Paths of the bundle and their replacements, so that a stack names the component's own files. */
let replacements: [string, string][] = [];

/** A place in the bundle, in a stack. */
const PLACE = /component\.mjs:(\d+):(\d+)/g;
let placeOf: ((line: number, column: number) => string | undefined) | undefined;

/** Has places in the bundle replaced by those in the component's own files, which deno does itself for modules. */
export function mapPlaces(find: (line: number, column: number) => string | undefined): void {
  placeOf = find;
}

export function hideModulePath(moduleUrl: URL): void {
  replacements = [
    [moduleUrl.href, "component.mjs"],
    [new URL(".", moduleUrl).href, ""],
    [new URL("..", moduleUrl).href, ""],
  ];
}

/** Converts a thrown value of any type to the error that is sent to the host. */
export function describeError(thrown: unknown): CallError {
  const error = isErrorLike(thrown) ? thrown : new Error(textOf(thrown));
  const name = typeof error.name === "string" && error.name ? error.name : "Error";
  return {
    code: name.slice(0, 100),
    message: hidePaths(textOf(error.message)).slice(0, MAX_ERROR_MESSAGE),
    stack: stackOf(error, 0).slice(0, MAX_STACK),
  };
}

function stackOf(error: ErrorLike, depth: number): string {
  const own = textOf(error.stack ?? `${error.name}: ${error.message}`)
    .split("\n")
    .filter(line => !FOREIGN_FRAME.test(line))
    .join("\n");
  const stack = withOwnPlaces(hidePaths(own));
  // undici's message is only "fetch failed"; the reason is in `cause`.
  return depth < 3 && isErrorLike(error.cause)
    ? `${stack}\nCaused by: ${stackOf(error.cause, depth + 1)}`
    : stack;
}

function hidePaths(text: string): string {
  const hidden = replacements.reduce((rest, [path, replacement]) => rest.replaceAll(path, replacement), text);
  return hidden.replace(FURTHER_SOURCE, "component.mjs");
}

function withOwnPlaces(stack: string): string {
  if (!placeOf) return stack;
  return stack.replace(PLACE, (place, line, column) => placeOf?.(Number(line), Number(column)) ?? place);
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
