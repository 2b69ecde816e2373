import { judgeVersion, type Supported } from "../../lib/versions.ts";

/**
 * What a check found: `ok`; `problem`: it stops or endangers work and sets the exit code; `note`: worth knowing, but the
 * installation works, or only the owner of a thing can change it.
 */
export type Severity = "ok" | "note" | "problem";

export interface Finding {
  /** What was checked, in a word or two. */
  check: string;
  severity: Severity;
  /** What was found, in one line. */
  message: string;
  /** What to do about it, in one line; absent if all is well. */
  advice?: string;
}

export const ok = (check: string, message: string): Finding => ({ check, severity: "ok", message });
export const note = (check: string, message: string, advice: string): Finding => ({
  check,
  severity: "note",
  message,
  advice,
});
export const problem = (check: string, message: string, advice: string): Finding => ({
  check,
  severity: "problem",
  message,
  advice,
});

/** Ids shown of a long list. */
const SHOWN = 5;

/** Returns ids as text: the first few, and how many there are. */
export function listed(ids: string[]): string {
  const more = ids.length > SHOWN ? `, and ${ids.length - SHOWN} more` : "";
  return `${ids.slice(0, SHOWN).join(", ")}${more}`;
}

/** Returns a duration in the largest fitting unit, such as `3 min`. */
export function duration(ms: number): string {
  const units: [number, string][] = [
    [86_400_000, "d"],
    [3_600_000, "h"],
    [60_000, "min"],
    [1000, "s"],
  ];
  const [size, unit] = units.find(([size]) => Math.abs(ms) >= 2 * size) ?? [1000, "s"];
  return `${Math.round(ms / size)} ${unit}`;
}

/** Judges the version of Node, Redis or MongoDB, as every process does at its start. Pure. */
export function judgeProgram(supported: Supported, version: string): Finding {
  const { title, least } = supported;
  const verdict = judgeVersion(supported, version);
  if (verdict.is === "ok") return ok(title, `version ${version}`);
  if (verdict.is === "old") {
    return problem(title, `version ${version} is too old`, `install ${title} ${least} or newer`);
  }
  return note(title, verdict.message, "try it on a copy first, or install one that was tested");
}

/** Headwater corrects any difference, but other programs and log files on this machine do not. */
const MAX_SKEW_MS = 1000;

/**
 * Compares this machine's clock with a store's. `readMs` returns the store's time in Unix milliseconds; half of the time
 * that it takes is the error of the comparison.
 */
export async function checkClockSkew(store: string, readMs: () => Promise<number>): Promise<Finding> {
  const beforeMs = Date.now();
  const storeMs = await readMs();
  const afterMs = Date.now();
  const aheadMs = Math.round((beforeMs + afterMs) / 2 - storeMs);
  const check = `clock of ${store}`;
  if (Math.abs(aheadMs) <= MAX_SKEW_MS + (afterMs - beforeMs) / 2)
    return ok(check, "agrees with this machine's");
  const direction = aheadMs > 0 ? "ahead of" : "behind";
  return problem(
    check,
    `this machine is ${duration(Math.abs(aheadMs))} ${direction} ${store}`,
    "synchronise the clocks of all machines, for example with chrony",
  );
}
