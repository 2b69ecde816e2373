import type { Outcome } from "./outcome.ts";

/** A row of the table: what happened, on which stores, and what became of the events; no outcome if it could not be told. */
export interface Row {
  where: string;
  title: string;
  outcome: Outcome | undefined;
}

const HEAD = [
  ...["stores", "fault under load", "accepted", "delivered", "lost", "doubled", "out of order", "repeats"],
  ...["flows again after", "accepts again after", "5xx", "no response", "settled after", "stuck for"],
  "open in the end",
];

/** Returns a row in Markdown. */
export function rowOf({ where, title, outcome }: Row): string {
  return lineOf([where, title, ...(outcome ? cellsOf(outcome) : HEAD.slice(2).map(() => "?"))]);
}

/** Returns the rows as a table in Markdown. */
export function tableOf(rows: Row[]): string {
  return [lineOf(HEAD), lineOf(HEAD.map(() => "---")), ...rows.map(rowOf)].join("\n");
}

function cellsOf(outcome: Outcome): (string | number)[] {
  const { accepted, delivered, lost, doubled, disordered, repeats, stuck } = outcome;
  const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
  const percent = (share: number) => `${(100 * share).toFixed(1)} %`;
  return [
    ...[accepted, delivered, lost.length, doubled.length, disordered.length, repeats],
    ...[seconds(outcome.longestGapMs), seconds(outcome.longestRejectedMs)],
    ...[percent(outcome.share5xx), percent(outcome.shareSilent)],
    ...[seconds(outcome.settledMs), seconds(outcome.idleMs)],
    Object.keys(stuck).join(", ") || "nothing",
  ];
}

const lineOf = (cells: (string | number)[]) => `| ${cells.join(" | ")} |`;
