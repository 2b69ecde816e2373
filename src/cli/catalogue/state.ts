import { createHash, randomBytes } from "node:crypto";
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { AppError } from "../../lib/errors.ts";
import type { Outcome } from "./report.ts";

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
