import type { CallError, Emit, LogLine } from "../../sandbox/protocol.ts";

/** What `headwater dev` shows: one line for each thing that happens, beginning with the time of day. */
export interface Printer {
  say(kind: string, text: string): void;
  emit(emit: Emit): void;
  log(line: LogLine): void;
  error(error: CallError): void;
}

type Output = Pick<NodeJS.WriteStream, "write" | "isTTY">;

const KIND_CHARS = 9;
/** On a screen only: what reads a pipe gets the event whole. */
const SHOWN_CHARS = 2000;

/** The component's text may hold what a terminal obeys. */
const visible = (text: string): string =>
  text.replace(/[^\P{Cc}\t\n]/gu, sign => `\\x${sign.charCodeAt(0).toString(16).padStart(2, "0")}`);

const timeOfDay = (ms: number): string => new Date(ms).toTimeString().slice(0, 8);

/** @param output usually the process's stdout. */
export function createPrinter(output: Output): Printer {
  const at = (ms: number, kind: string, text: string) => {
    const indent = " ".repeat("00:00:00 ".length + KIND_CHARS);
    const shown = visible(text.replaceAll("\r\n", "\n")).replaceAll("\n", `\n${indent}`);
    output.write(`${timeOfDay(ms)} ${kind.padEnd(KIND_CHARS)}${shown}\n`);
  };
  const cut = (text: string) =>
    output.isTTY && text.length > SHOWN_CHARS
      ? `${text.slice(0, SHOWN_CHARS)}… (${text.length} characters)`
      : text;
  return {
    say: (kind, text) => at(Date.now(), kind, text),
    emit({ event, metadata: { name, id, summary } }) {
      const head = [
        name || "default",
        ...(id === undefined ? [] : [`id=${id}`]),
        ...(summary === undefined ? [] : [JSON.stringify(summary)]),
      ];
      at(Date.now(), "emit", `${head.join(" ")} ${cut(JSON.stringify(event))}`);
    },
    log: ({ ts, level, message }) => at(ts, "log", `${level === "info" ? "" : `${level}: `}${message}`),
    error: error => at(Date.now(), "error", error.stack || `${error.code}: ${error.message}`),
  };
}
