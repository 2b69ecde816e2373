import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline/promises";
import { text as textOf } from "node:stream/consumers";
import { type Command, InvalidArgumentError } from "commander";
import { AppError } from "../lib/errors.ts";
import { isObject } from "../lib/json.ts";
import { JsonText } from "../lib/json-text.ts";
import { durationMs } from "../lib/time.ts";
import type { AppEventRules } from "../models/connection.ts";

/** What was typed can't be meant: exit code 2. `message` begins with the option or argument. */
export class UsageError extends AppError {
  constructor(message: string) {
    super("invalid", message);
  }
}

/** Whether a component is given by its address, and not by its file. */
export const isUrl = (location: string): boolean => /^https?:\/\//i.test(location);

/** Returns the text of a file; `-` is the standard input. Throws AppError `invalid` naming the file. */
export async function readTextFile(path: string): Promise<string> {
  try {
    return await (path === "-" ? textOf(process.stdin) : readFile(path, "utf8"));
  } catch (error) {
    throw new AppError("invalid", `${path} can't be read: ${(error as Error).message}`, { cause: error });
  }
}

/** Returns the JSON value in a file; `-` is the standard input. Throws AppError `invalid` naming the file. */
export const readJsonFile = async (path: string): Promise<unknown> => (await readJsonText(path)).value;

/** As `readJsonFile`, as it is written. */
export async function readJsonText(path: string): Promise<JsonText> {
  const json = new JsonText(await readTextFile(path));
  try {
    void json.value;
    return json;
  } catch (error) {
    throw new AppError("invalid", `${path} is not JSON: ${(error as Error).message}`, { cause: error });
  }
}

/** Returns the object in a JSON file. Throws AppError `invalid` naming the file, and `what` it must contain. */
export async function readObjectFile(path: string, what: string): Promise<Record<string, unknown>> {
  const given = await readJsonFile(path);
  if (!isObject(given)) throw new AppError("invalid", `${path} must contain an object: ${what}`);
  return given;
}

/** Adds the option that names a file with secrets by which requests are verified: an argument is seen by the other users of a machine. */
export const verifyOption = (command: Command): Command =>
  command.option(
    "--verify <file>",
    "JSON file that says how requests at the endpoint are verified: docs/verify.md; - is the standard input",
  );

/** Returns the prop values in a file, by name; none without a file. Throws as `readObjectFile`. */
export const readPropsFile = async (path: string | undefined): Promise<Record<string, unknown>> =>
  path === undefined ? {} : await readObjectFile(path, "prop values by name");

/** Parses an option; in an object, because commander would replace a parsed `null` by `""`, as if it had no value. */
export function parseJsonOption(text: string): JsonText {
  const json = new JsonText(text);
  try {
    void json.value;
    return json;
  } catch {
    throw new InvalidArgumentError("must be JSON");
  }
}

/** Parses an option that must be a JSON object. */
export function parseObjectOption(text: string): Record<string, unknown> {
  const { value } = parseJsonOption(text);
  if (isObject(value)) return value;
  throw new InvalidArgumentError("must be a JSON object");
}

/** Parses a moment: a date (`2026-11-23T10:00:00Z`), Unix seconds, or how long ago (`2h`, `30m`). Returns Unix seconds. */
export const parseTime = (text: string, now = Date.now()): number =>
  parseMoment(text, now, { sign: -1, from: "ago", example: "2h or 30m" });

/** As `parseTime`, but a length of time is from now on (`30d`). */
export const parseEnd = (text: string, now = Date.now()): number =>
  parseMoment(text, now, { sign: 1, from: "from now", example: "30d or 12h" });

interface Direction {
  sign: 1 | -1;
  /** What it is called, behind a length of time. */
  from: string;
  example: string;
}

function parseMoment(text: string, now: number, { sign, from, example }: Direction): number {
  if (/^\d{1,8}$/.test(text)) {
    throw new InvalidArgumentError(
      `lacks its unit: ${text}m are minutes ${from}, ${text}h hours, ${text}d days; Unix seconds have more digits`,
    );
  }
  const length = durationMs(text);
  const ms = Number.isNaN(length)
    ? /^\d{1,11}$/.test(text)
      ? Number(text) * 1000
      : Date.parse(text)
    : now + sign * length;
  if (Number.isNaN(ms))
    throw new InvalidArgumentError(`must be a date, Unix seconds, or a time ${from} such as ${example}`);
  return Math.max(0, Math.floor(ms / 1000));
}

/** The option without which a command asks before it deletes. */
export interface Confirmed {
  yes?: boolean;
}

export const yesOption = (command: Command): Command =>
  command.option("-y, --yes", "do not ask; needed without a terminal");

/**
 * Asks at a terminal whether `what` is to be deleted. Throws AppError `invalid` unless that is so, and UsageError if it can't
 * be asked.
 */
export async function confirmDeletion(what: string, { yes = false }: Confirmed): Promise<void> {
  if (yes) return;
  if (!process.stdin.isTTY) throw new UsageError(`--yes: is needed without a terminal, to delete ${what}`);
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    // Ctrl D and Ctrl C end the terminal; the question is pending for ever then.
    const ended = new Promise<string>(resolve => terminal.once("close", () => resolve("")));
    const asked = terminal.question(`Delete ${what}? [y/N] `).catch(() => "");
    if (/^y(es)?$/i.test((await Promise.race([asked, ended])).trim())) return;
  } finally {
    terminal.close();
  }
  throw new AppError("invalid", "nothing was deleted");
}

/** What `eventRuleOptions` reads. */
export interface EventRuleOptions {
  eventName?: string[];
  event?: string;
  challenge?: string;
}

/** Adds the options that say how an app's events are read (docs/connections.md#events-of-an-app). */
export const eventRuleOptions = (command: Command): Command =>
  command
    .option(
      "--event-name <template>",
      "what an event that the app sends is called: {{headers.x-event}}; may be repeated",
      (one, earlier: string[] = []) => [...earlier, one],
    )
    .option("--event <template>", "what sources receive of it (default: {{body}})")
    .option(
      "--challenge <template>",
      "what it wants sent back when it checks an endpoint: {{body.challenge}}",
    );

/** Returns the rules of an app's events that were given; undefined if none was. */
export function eventRulesOf({ eventName, event, challenge }: EventRuleOptions): AppEventRules | undefined {
  if (eventName === undefined && event === undefined && challenge === undefined) return undefined;
  return {
    ...(eventName && { names: eventName }),
    ...(event !== undefined && { event }),
    ...(challenge !== undefined && { challenge }),
  };
}

/** Every secret is shorter. */
const MAX_CHARS = 4096;

/**
 * Reads one line of the standard input: asked for with `question` and not shown at a terminal; otherwise what is piped in.
 * Throws AppError `invalid` that begins with `what` if there is none, and if it is too long.
 */
export async function askSecret(question: string, what: string): Promise<string> {
  const { stdin } = process;
  const isTerminal = stdin.isTTY === true;
  if (isTerminal) {
    // First: what is typed before it would be shown.
    stdin.setRawMode(true);
    process.stderr.write(question);
  }
  try {
    return await readLine(stdin, isTerminal, what);
  } finally {
    if (isTerminal) {
      stdin.setRawMode(false);
      process.stderr.write("\n");
    }
    stdin.pause();
  }
}

const INTERRUPT = "\u0003";
const END_OF_INPUT = "\u0004";
const BACKSPACES = ["\u007f", "\b"];

function readLine(stdin: NodeJS.ReadStream, isTerminal: boolean, what: string): Promise<string> {
  // Not by `for await`: it destroys the stream at its end, which then can't leave the raw mode.
  return new Promise((resolve, reject) => {
    let line = "";
    const end = (outcome: () => string) => {
      stdin.off("data", onData).off("end", onEnd);
      try {
        resolve(outcome());
      } catch (error) {
        reject(error);
      }
    };
    const onEnd = () => end(() => checked(line, what));
    const onData = (chunk: string) => {
      for (const char of chunk) {
        if (char === "\n" || char === "\r" || (isTerminal && char === END_OF_INPUT)) return onEnd();
        if (isTerminal && char === INTERRUPT) return end(stopped);
        line = isTerminal && BACKSPACES.includes(char) ? line.slice(0, -1) : line + char;
        if (line.length > MAX_CHARS) return end(() => tooLong(what));
      }
    };
    stdin.setEncoding("utf8").on("data", onData).once("end", onEnd);
  });
}

function stopped(): never {
  throw new AppError("invalid", "stopped: nothing was changed");
}

function tooLong(what: string): never {
  throw new AppError("invalid", `${what}: is too long, it may have ${MAX_CHARS} characters`);
}

function checked(line: string, what: string): string {
  const text = line.trim();
  if (text !== "") return text;
  throw new AppError("invalid", `${what}: nothing was given on the standard input`);
}
