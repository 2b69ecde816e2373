import { Writable } from "node:stream";
import { format, inspect } from "node:util";
import type { LogLine } from "../protocol.ts";

type Write = (level: LogLine["level"], text: () => string) => void;

const LEVELS: Record<string, LogLine["level"]> = {
  debug: "debug",
  error: "error",
  info: "info",
  log: "info",
  warn: "warn",
};

/**
 * Turns the output of `console` and the process's streams into logs of the run. `write` receives a function that
 * formats the text, and calls it only while the log limit is not reached: after that, output costs nothing.
 */
export function captureOutput(write: Write): void {
  const console = globalThis.console as unknown as Record<string, unknown>;
  const counts = new Map<string, number>();
  const timers = new Map<string, number>();
  const elapsed = (label = "default") =>
    `${label}: ${(performance.now() - (timers.get(label) ?? performance.now())).toFixed(3)}ms`;
  for (const [name, level] of Object.entries(LEVELS)) {
    console[name] = (...args: unknown[]) => write(level, () => format(...args));
  }
  Object.assign(console, {
    assert: (holds: unknown, ...args: unknown[]) => {
      if (!holds) write("error", () => `Assertion failed${args.length > 0 ? `: ${format(...args)}` : ""}`);
    },
    clear: () => {},
    count: (label = "default") => {
      counts.set(label, (counts.get(label) ?? 0) + 1);
      write("info", () => `${label}: ${counts.get(label)}`);
    },
    countReset: (label = "default") => counts.delete(label),
    dir: (value: unknown) => write("info", () => inspect(value)),
    dirxml: (...args: unknown[]) => write("info", () => format(...args)),
    group: (...args: unknown[]) => args.length > 0 && write("info", () => format(...args)),
    groupCollapsed: (...args: unknown[]) => args.length > 0 && write("info", () => format(...args)),
    groupEnd: () => {},
    table: (value: unknown) => write("info", () => inspect(value)),
    trace: (...args: unknown[]) => {
      const { stack } = new Error(" ");
      write("debug", () => `Trace: ${format(...args)}\n${stack?.split("\n").slice(1).join("\n")}`);
    },
    time: (label = "default") => timers.set(label, performance.now()),
    timeEnd: (label = "default") => {
      write("info", () => elapsed(label));
      timers.delete(label);
    },
    timeLog: (label = "default") => write("info", () => elapsed(label)),
  });
  replaceStream("stdout", "info", write);
  replaceStream("stderr", "error", write);
}

function replaceStream(name: "stdout" | "stderr", level: LogLine["level"], write: Write): void {
  const stream = new Writable({
    decodeStrings: false,
    write(chunk: string | Uint8Array, _encoding, done) {
      const text = typeof chunk === "string" ? chunk : Buffer.from(chunk).toString("utf8");
      if (text.trim()) write(level, () => text.trimEnd());
      done();
    },
  });
  Object.defineProperty(process, name, { value: stream, configurable: true, enumerable: true });
}
