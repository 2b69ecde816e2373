import { createHash, randomBytes } from "node:crypto";
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
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
  UnavailableError,
} from "../../../clients/typescript/src/index.ts";
import { AppError } from "../../lib/errors.ts";
import { shortened } from "../output.ts";
import type { Outcome, Step } from "./report.ts";

/** The first line of a state. */
interface Start {
  /** Which components, at which server, with which props. */
  of: string;
  /** Names of sources and actions that were made begin with it. */
  token: string;
  /** Components that the account had before: they are not deleted. */
  had: string[];
  pid: number;
}

/** What follows: a component is being examined, it was examined, another process goes on, or all are examined. */
type Line = { began: string; url: string } | { done: Outcome } | { pid: number } | { finished: true };

/** Where an examination has come, in a file of one JSON value a line, which survives a `kill -9`. */
export class State {
  readonly path: string;
  readonly start: Start;
  readonly outcomes: Outcome[];
  /** Addresses of all components whose examination began. */
  readonly urls: Set<string>;

  private constructor(path: string, start: Start, lines: readonly Line[]) {
    this.path = path;
    this.start = start;
    this.outcomes = lines.flatMap(line => ("done" in line ? [line.done] : []));
    this.urls = new Set(lines.flatMap(line => ("began" in line ? [line.url] : [])));
  }

  /**
   * Returns the state of an examination that was cut off; null if there is none, or it came to its end. Throws AppError
   * `conflict` for a file of other components, and while another process writes it.
   */
  static resume(path: string, of: string): State | null {
    const [start, ...lines] = (readLines(path) ?? []) as [Start?, ...Line[]];
    if (start === undefined) return null;
    if (start.of !== of) {
      const remedy = "remove it, or name another one with --state";
      throw new AppError("conflict", `${path}: is not of these components, props and server; ${remedy}`);
    }
    if (lines.some(line => "finished" in line)) return null;
    const pid = lines.findLast(line => "pid" in line)?.pid ?? start.pid;
    if (pid !== process.pid && isAlive(pid)) {
      const remedy = "wait for its end, or name another file with --state";
      throw new AppError("conflict", `${path}: process ${pid} is at this; ${remedy}`);
    }
    const state = new State(path, start, lines);
    // The last line may have been cut off.
    appendFileSync(path, "\n");
    state.#append({ pid: process.pid });
    return state;
  }

  /** Begins with nothing, in place of what the file had. Throws AppError `invalid` for a file that can't be written. */
  static begin(path: string, of: string, had: string[]): State {
    const start = { of, token: `catalogue-${randomBytes(8).toString("hex")}`, had, pid: process.pid };
    try {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, `${JSON.stringify(start)}\n`, { mode: 0o600 });
    } catch (error) {
      throw new AppError("invalid", `--state: ${path} can't be written: ${(error as Error).message}`);
    }
    return new State(path, start, []);
  }

  began(at: string, url: string): void {
    this.urls.add(url);
    this.#append({ began: at, url });
  }

  done(outcome: Outcome): void {
    this.outcomes.push(outcome);
    this.#append({ done: outcome });
  }

  finish(): void {
    this.#append({ finished: true });
  }

  #append(line: Line): void {
    appendFileSync(this.path, `${JSON.stringify(line)}\n`);
  }
}

/** Returns what two examinations have in common if one can go on with the other's state. */
export const identityOf = (parts: readonly unknown[]): string =>
  createHash("sha256").update(JSON.stringify(parts)).digest("hex");

/** Returns the lines of a file, without a last one that was cut off; undefined if there is no such file. */
function readLines(path: string): unknown[] | undefined {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new AppError("invalid", `--state: ${path} can't be read: ${(error as Error).message}`);
  }
  const lines = text.split("\n").flatMap(line => {
    try {
      return [JSON.parse(line)];
    } catch {
      return [];
    }
  });
  // Any other file is not overwritten.
  return lines.length > 0 ? lines : [{}];
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

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

/** One component took longer than it may. */
class TooLongError extends Error {}

/** A wait that the server asked for, and whose end is worth waiting for. */
const LONGEST_WAIT_MS = 3_600_000;
const USUAL_WAIT_MS = 5000;
const LONGEST_WAIT_FOR_SERVICE_MS = 30_000;
const MOST_TRIES = 3;

/** The time that one component may take. What the server's own limits make it wait does not count. */
export class TimeLimit {
  readonly #totalMs: number;
  readonly #stop: AbortSignal;
  readonly #onWait: (untilMs: number, why: string) => void;
  #leftMs: number;

  constructor(totalMs: number, stop: AbortSignal, onWait: (untilMs: number, why: string) => void) {
    this.#totalMs = totalMs;
    this.#leftMs = totalMs;
    this.#stop = stop;
    this.#onWait = onWait;
  }

  /**
   * Makes a call of the API, again after the server's rate limit. Throws TooLongError, the reason of the stop signal, and the
   * client's errors.
   */
  async spend<T>(call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      const outOfTime = AbortSignal.timeout(Math.max(1, Math.ceil(this.#leftMs)));
      const startedAt = performance.now();
      try {
        return await call(AbortSignal.any([this.#stop, outOfTime]));
      } catch (error) {
        this.#stop.throwIfAborted();
        if (outOfTime.aborted) throw new TooLongError(`took more than ${this.#totalMs / 1000} s`);
        await this.#waitAfter(error, tries);
      } finally {
        this.#leftMs -= performance.now() - startedAt;
      }
    }
  }

  /** Waits as long as the server asks for, or throws the error. */
  async #waitAfter(error: unknown, tries: number): Promise<void> {
    if (error instanceof RateLimitedError) {
      const waitMs = error.retryAfterMs ?? USUAL_WAIT_MS;
      if (waitMs > LONGEST_WAIT_MS) throw error;
      this.#onWait(Date.now() + waitMs, error.detail);
      return await delay(waitMs, undefined, { signal: this.#stop });
    }
    if (!(error instanceof UnavailableError) || tries >= MOST_TRIES) throw error;
    const waitMs = Math.min(error.retryAfterMs ?? USUAL_WAIT_MS, LONGEST_WAIT_FOR_SERVICE_MS);
    await delay(waitMs, undefined, { signal: this.#stop });
  }
}
