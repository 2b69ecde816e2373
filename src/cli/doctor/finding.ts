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
