import { readFileSync } from "node:fs";
import { join } from "node:path";
import { filesBelow, root } from "./sources.ts";

/** The heading in docs/states.md above the list of the places. */
const WAITING_HEADING = "Where a delivery waits";

/** Returns the places where a delivery can wait: of each item of the numbered list in docs/states.md what is before a comma or bracket. */
export function waitingPlaces(): string[] {
  const section = readFileSync(join(root, "docs/states.md"), "utf8")
    .split(/^#+ /m)
    .find(part => part.startsWith(`${WAITING_HEADING}\n`));
  if (section === undefined) throw new Error(`docs/states.md has no heading "${WAITING_HEADING}"`);
  return [...section.matchAll(/^\d+\. ([^,(\n]+)/gm)].map(([, name = ""]) => name.trim());
}

const STATUS = /^# .*\n\nStatus: (?:accepted|withdrawn|superseded by \[?\d{4})/;
const MAX_LINES = 40;

export interface DecisionFigures {
  files: number;
  words: number;
  /** Files that don't say below their title whether the decision holds. */
  withoutStatus: string[];
  overlong: string[];
}

export function decisionFigures(): DecisionFigures {
  const files = filesBelow("docs/decisions", ".md");
  return {
    files: files.length,
    words: files.reduce((sum, { text }) => sum + text.split(/\s+/).filter(Boolean).length, 0),
    withoutStatus: files.filter(({ text }) => !STATUS.test(text)).map(({ path }) => path),
    overlong: files.filter(({ lines }) => lines > MAX_LINES).map(({ path }) => path),
  };
}
