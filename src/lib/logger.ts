import { fstatSync, writeSync } from "node:fs";
import { format } from "node:util";
import { type Logger, type LoggerOptions, pino } from "pino";

export type { Logger };

/** Names of fields that may hold a secret; their values are never logged. */
const SECRET_FIELD =
  /^((proxy-)?authorization|(x[-_])?api[-_]?key|signing_?key|password|secret|\$auth|(set-)?cookie)$/i;

/** Values nested deeper are left out, which also ends circular references. */
const MAX_DEPTH = 8;

/** Only what an error says: database drivers attach whole commands and documents to theirs. */
function errorFacts(error: Error): Record<string, unknown> {
  const { type, message, stack } = pino.stdSerializers.err(error);
  const { code } = error as { code?: unknown };
  return { type, message, stack, ...(["string", "number"].includes(typeof code) && { code }) };
}

function withoutSecrets(value: unknown, depth = 0): unknown {
  if (value instanceof Error) return errorFacts(value);
  if (typeof value !== "object" || value === null || "toJSON" in value) return value;
  if (depth > MAX_DEPTH) return "[deep]";
  if (Array.isArray(value)) return value.map(entry => withoutSecrets(entry, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, entry]) => [
      name,
      SECRET_FIELD.test(name) ? "[secret]" : withoutSecrets(entry, depth + 1),
    ]),
  );
}

const WARN = 40;

let stdout: LogOutput | undefined;

/**
 * Creates a logger of JSON lines on stdout; `process` is the queue's name, `web` or `cli`. Warnings and errors are written
 * at once, other lines within 100 ms: a killed process loses up to that much of them. A log that can't be written loses
 * lines and never stops the process (LogOutput).
 */
export function createLogger(process: string, level: string): Logger {
  stdout ??= new LogOutput(1);
  const output = stdout;
  const options: LoggerOptions = {
    hooks: {
      logMethod(args, log, rank) {
        log.apply(this, args);
        if (rank >= WARN) output.flush();
      },
    },
    level,
    base: { process },
    timestamp: pino.stdTimeFunctions.isoTime,
    // `withoutSecrets` has already reduced every error to its facts.
    serializers: { err: facts => facts },
    formatters: {
      level: label => ({ level: label }),
      log: fields => withoutSecrets(fields) as Record<string, unknown>,
    },
  };
  const log = pino(options, output);
  output.onRecovered = lines => log.warn({ lines }, "lines of the log were dropped");
  return log;
}

/** How much waits for a reader that is slow or has stopped, in characters; further lines are dropped. */
const MAX_WAITING_CHARS = 1024 * 1024;
/** Lines are written together: a write for each costs as much as the work that most of them report. */
const FLUSH_MS = 100;
const FLUSH_CHARS = 16 * 1024;
/** A process that ends gives a slow reader this long. */
const LAST_FLUSH_MS = 250;
const PAUSE_MS = 10;
const NEWLINE = "\n".charCodeAt(0);

let dropped = 0;

/** Returns how many lines this process has dropped because its log could not be written (docs/observability.md#logs). */
export const droppedLines = (): number => dropped;

/**
 * Writes lines to a file descriptor, and never waits for it: a full disk, a reader that is gone or one that has stopped
 * costs lines and never the process. Lines that can't be written are dropped and counted.
 */
class LogOutput {
  /** Is called with the number of lines that were dropped, once others can be written again. */
  onRecovered: (lines: number) => void = () => undefined;
  readonly #fd: number;
  #timer: NodeJS.Timeout | undefined;
  #waiting = "";
  /** The rest of what is being written: a reader may have taken a part of it. */
  #rest: Buffer | undefined;
  /** True after a line of which only the beginning was written: the next one must not continue it. */
  #isTorn = false;
  #droppedSince = 0;

  constructor(fd: number) {
    this.#fd = fd;
    neverBlock(fd);
    process.on("exit", () => this.#flushLast());
  }

  /** Writes a line, which ends with a newline, within 100 ms. */
  write(line: string): void {
    if (this.#waiting.length + line.length > MAX_WAITING_CHARS) this.#drop(1);
    else this.#waiting += line;
    if (this.#waiting.length >= FLUSH_CHARS && !this.#rest) this.flush();
    else this.#flushSoon();
  }

  /** Writes what waits, as far as that is possible now. Never throws. */
  flush(): void {
    while (this.#rest || this.#waiting) {
      const rest = this.#rest ?? this.#takeWaiting();
      this.#rest = rest;
      try {
        const written = writeSync(this.#fd, rest);
        if (written > 0) this.#isTorn = rest[written - 1] !== NEWLINE;
        this.#rest = written === rest.length ? undefined : rest.subarray(written);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "EAGAIN") {
          this.#flushSoon();
          return;
        }
        this.#drop(rest.reduce((lines, byte) => lines + Number(byte === NEWLINE), 0));
        this.#rest = undefined;
        continue;
      }
      this.#sayRecovered();
    }
  }

  #flushSoon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.flush();
    }, FLUSH_MS).unref();
  }

  #flushLast(): void {
    const until = Date.now() + LAST_FLUSH_MS;
    for (this.flush(); this.#rest && Date.now() < until; this.flush()) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
    }
  }

  #takeWaiting(): Buffer {
    const text = this.#isTorn ? `\n${this.#waiting}` : this.#waiting;
    this.#waiting = "";
    return Buffer.from(text);
  }

  #drop(lines: number): void {
    dropped += lines;
    this.#droppedSince += lines;
  }

  #sayRecovered(): void {
    const lines = this.#droppedSince;
    if (lines === 0 || this.#rest || this.#waiting) return;
    this.#droppedSince = 0;
    this.onRecovered(lines);
  }
}

/** Makes writing to a pipe or a socket fail with `EAGAIN` where it would wait: Node does that when it opens its stream. */
function neverBlock(fd: number): void {
  const kind = fstatSync(fd);
  if (!kind.isFIFO() && !kind.isSocket()) return;
  const stream = fd === 2 ? process.stderr : process.stdout;
  // Other writers may use the stream, and its reader may be gone.
  stream.on("error", () => undefined);
}

/** Prints a line on stderr, if that is possible: a process that ends with an exit code must not fail at saying why. */
export function printLastLine(line: string): void {
  try {
    writeSync(2, `${line}\n`);
  } catch {
    // There is no reader.
  }
}

/**
 * Turns what libraries print by themselves (BullMQ warns with `console.warn`, Node with process warnings) into lines of
 * the log, so that every line of a process is JSON.
 */
export function logConsole(log: Logger): void {
  const as =
    (level: "info" | "warn" | "error") =>
    (...values: unknown[]) =>
      log[level]({ from: "console" }, format(...values));
  Object.assign(console, { log: as("info"), info: as("info"), warn: as("warn"), error: as("error") });
  // Node's own listener prints them as text.
  process.removeAllListeners("warning");
  process.on("warning", warning => log.warn({ err: warning, from: "node" }, "process warning"));
}

/** A lost connection fails every second; one line in ten seconds says as much. */
const THROTTLE_MS = 10_000;

/** Returns a function that logs an error at once, and later ones at most every 10 s, with how many were left out. */
export function warnThrottled(
  log: Logger,
  message: string,
  fields: Record<string, unknown> = {},
): (error: unknown) => void {
  let nextAtMs = 0;
  let suppressed = 0;
  return error => {
    if (Date.now() < nextAtMs) {
      suppressed += 1;
      return;
    }
    log.warn({ ...fields, err: error, ...(suppressed > 0 && { suppressed }) }, message);
    nextAtMs = Date.now() + THROTTLE_MS;
    suppressed = 0;
  };
}
