import { LIMITS } from "../../limits/catalogue.ts";
import type { ActionOutput } from "../../models/delivery.ts";
import type { ActionExport, CallResult, LogLine } from "../../sandbox/protocol.ts";

const MAX_LOG_BYTES = LIMITS.actionLogBytes.value;
/** Bytes that a log line counts besides its message. */
const LINE_BYTES = 64;

/**
 * Returns what is kept of an action's run (docs/actions.md): its summary, its exports, the last of each name,
 * and what it returned, as far as they fit in this order; and its last log lines. The emitted events come from the child
 * and are not trusted.
 */
export function collectOutput({ emits, logs }: Pick<CallResult, "emits" | "logs">): ActionOutput {
  const exports = new Map<string, unknown>();
  let returned: unknown;
  for (const { event } of emits) {
    const { name, value } = (event ?? {}) as ActionExport;
    if (typeof name === "string") exports.set(name, value ?? null);
    else returned = value ?? null;
  }
  const summary = exports.get("$summary");
  exports.delete("$summary");
  const { fits, isCut } = openBudget(LIMITS.actionOutputBytes.value);
  const output = {
    summary: summary !== undefined && fits(summary) ? textOf(summary) : null,
    exports: Object.fromEntries([...exports].filter(one => fits(one))),
    return_value: fits(returned ?? null) ? (returned ?? null) : null,
  };
  return { ...output, truncated: isCut(), logs: lastLines(logs) };
}

function openBudget(bytes: number) {
  let left = bytes;
  let isCut = false;
  return {
    /** Returns true if the value fits into what is left, as JSON. */
    fits(value: unknown): boolean {
      const size = Buffer.byteLength(JSON.stringify(value));
      if (size > left) {
        isCut = true;
        return false;
      }
      left -= size;
      return true;
    },
    isCut: () => isCut,
  };
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

/** The last lines: what was logged before an error says most about it. */
function lastLines(logs: LogLine[]): LogLine[] {
  let left = MAX_LOG_BYTES;
  const from = logs.findLastIndex(({ message }) => {
    left -= Buffer.byteLength(message) + LINE_BYTES;
    return left < 0;
  });
  return logs.slice(from + 1);
}
