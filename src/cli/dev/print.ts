import type { CallError, Emit, LogLine } from "../../sandbox/protocol.ts";

/** Prints what happens, each thing on a line that begins with the time of day. */
export interface Printer {
  /** `kind` is the word in the second column. */
  say(kind: string, text: string): void;
  emit(emit: Emit): void;
  log(line: LogLine): void;
  error(error: CallError): void;
}

type Output = Pick<NodeJS.WriteStream, "write" | "isTTY">;

const KIND_CHARS = 9;
/** Longer events are cut on a screen only: a program that reads a pipe receives the whole event. */
const MAX_SHOWN_CHARS = 2000;

/** Escapes control characters, which a terminal would obey. */
const escapeControls = (text: string): string =>
  text.replace(/[^\P{Cc}\t\n]/gu, char => `\\x${char.charCodeAt(0).toString(16).padStart(2, "0")}`);

const timeOfDay = (ms: number): string => new Date(ms).toTimeString().slice(0, 8);

/** @param output usually the process's stdout */
export function createPrinter(output: Output): Printer {
  const print = (atMs: number, kind: string, text: string) => {
    const indent = " ".repeat("00:00:00 ".length + KIND_CHARS);
    const lines = escapeControls(text.replaceAll("\r\n", "\n")).replaceAll("\n", `\n${indent}`);
    output.write(`${timeOfDay(atMs)} ${kind.padEnd(KIND_CHARS)}${lines}\n`);
  };
  const cut = (text: string) =>
    output.isTTY && text.length > MAX_SHOWN_CHARS
      ? `${text.slice(0, MAX_SHOWN_CHARS)}… (${text.length} characters)`
      : text;
  return {
    say: (kind, text) => print(Date.now(), kind, text),
    emit({ event, metadata: { name, id, summary } }) {
      const head = [name || "default"];
      if (id !== undefined) head.push(`id=${id}`);
      if (summary !== undefined) head.push(JSON.stringify(summary));
      print(Date.now(), "emit", `${head.join(" ")} ${cut(JSON.stringify(event))}`);
    },
    log: ({ ts, level, message }) => print(ts, "log", `${level === "info" ? "" : `${level}: `}${message}`),
    error: error => print(Date.now(), "error", error.stack || `${error.code}: ${error.message}`),
  };
}
