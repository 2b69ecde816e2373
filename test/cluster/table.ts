import type { Outcome } from "./load.ts";

/** A row of the table: what happened, on which stores, and what became of the events. */
export interface Row {
  where: string;
  title: string;
  outcome: Outcome;
}

const HEAD = [
  "stores",
  "fault",
  "accepted",
  "lost",
  "doubled",
  "repeats",
  "longest gap",
  "rejected",
  "open in the end",
];

/** Returns the rows as a table in Markdown. */
export function tableOf(rows: Row[]): string {
  const cells = rows.map(({ where, title, outcome }) => {
    const { accepted, rejected, lost, doubled, repeats, longestGapMs, stuck } = outcome;
    const share = (100 * rejected) / (accepted + rejected);
    return [
      ...[where, title, accepted, lost.length, doubled.length, repeats],
      ...[`${(longestGapMs / 1000).toFixed(1)} s`, `${share.toFixed(1)} %`],
      Object.keys(stuck).join(", ") || "nothing",
    ];
  });
  const lines = [HEAD, HEAD.map(() => "---"), ...cells].map(row => `| ${row.join(" | ")} |`);
  return lines.join("\n");
}
