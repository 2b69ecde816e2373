import { type Outcome, STEPS, type StepName } from "./outcome.ts";

/** Components that failed for the same reason. */
export interface Cause {
  step: StepName;
  result: "failed" | "needs_props";
  cause: string;
  /** Where they are. */
  components: string[];
}

/** Returns what was found in groups, the largest first within each step. */
export function groupCauses(outcomes: readonly Outcome[]): Cause[] {
  const groups = new Map<string, Cause & { texts: Set<string> }>();
  for (const outcome of outcomes) {
    for (const step of STEPS) {
      const { result, cause = "" } = outcome[step];
      if (result !== "failed" && result !== "needs_props") continue;
      const alike = withoutNames(cause);
      const key = JSON.stringify([step, result, alike]);
      const group = groups.get(key) ?? { step, result, cause: alike, components: [], texts: new Set() };
      group.components.push(outcome.at);
      group.texts.add(cause);
      groups.set(key, group);
    }
  }
  return [...groups.values()]
    .map(({ texts, ...group }) => ({
      ...group,
      cause: texts.size === 1 ? ([...texts][0] ?? "") : group.cause,
    }))
    .sort(
      (a, b) => STEPS.indexOf(a.step) - STEPS.indexOf(b.step) || b.components.length - a.components.length,
    );
}

/** What differs from component to component, and what is written in its place. */
const NAMES: [RegExp, string][] = [
  [/\bhttps?:\/\/[^\s"'),;]+/g, "…"],
  [/"[^"]*"/g, '"…"'],
  [/[\w@./-]*\.[cm]?[jt]sx?\b(:\d+)*/g, "…"],
  [/\b(?:sc|dc|ac|run|u|o)_\w{8,}/g, "…"],
  [/\b\d+(?:\.\d+)*\b/g, "N"],
];

/** Returns a message without the names, addresses and numbers in it. */
const withoutNames = (cause: string): string =>
  NAMES.reduce((text, [pattern, replacement]) => text.replaceAll(pattern, replacement), cause);
