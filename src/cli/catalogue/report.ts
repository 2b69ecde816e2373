import { plain } from "../output/plain.ts";
import { table } from "../output/table.ts";
import { type Cause, groupCauses } from "./causes.ts";
import { type Outcome, type Result, STEPS, type StepName } from "./outcome.ts";

const RESULTS = ["ok", "failed", "needs_props", "not_tried"] as const satisfies Result[];
/** Of a group of causes, so many components are named. */
const NAMED = 3;

/** Returns how many components have which result, by step. */
export function countResults(outcomes: readonly Outcome[]): Record<StepName, Record<Result, number>> {
  const count = (step: StepName, result: Result) =>
    outcomes.filter(outcome => outcome[step].result === result).length;
  const countsOf = (step: StepName) =>
    Object.fromEntries(RESULTS.map(result => [result, count(step, result)])) as Record<Result, number>;
  return Object.fromEntries(STEPS.map(step => [step, countsOf(step)])) as ReturnType<typeof countResults>;
}

/** Returns the outcomes as a program reads them. */
export function reportJson(outcomes: readonly Outcome[], total: number): object {
  return {
    components: total,
    examined: outcomes.length,
    ...countResults(outcomes),
    causes: groupCauses(outcomes),
    outcomes,
  };
}

/** Returns the outcomes as a person reads them: how many came how far, and why the others did not. */
export function reportText(outcomes: readonly Outcome[], total: number): string {
  const counts = countResults(outcomes);
  const rows = STEPS.map(step => [step, ...RESULTS.map(result => counts[step][result])]);
  const causes = groupCauses(outcomes);
  const parts = STEPS.flatMap(step =>
    (["failed", "needs_props"] as const).flatMap(result => {
      const some = causes.filter(cause => cause.step === step && cause.result === result);
      return some.length === 0
        ? []
        : ["", `${titleOf(step, result)}: ${counts[step][result]}`, ...some.flatMap(linesOf)];
    }),
  );
  const head = `${outcomes.length} of ${total} components`;
  return [head, "", table(["", ...RESULTS.map(name => name.replace("_", " "))], rows), ...parts].join("\n");
}

const TITLES: Record<StepName, string> = {
  described: "Not described",
  deployed: "Not deployed",
  ran: "Failed at run",
};

const titleOf = (step: StepName, result: "failed" | "needs_props"): string =>
  result === "failed" ? TITLES[step] : "Needs props";

function linesOf({ cause, components }: Cause): string[] {
  const others = components.length - NAMED;
  const named = components.slice(0, NAMED).join(", ") + (others > 0 ? ` and ${others} more` : "");
  return [`${String(components.length).padStart(5)}  ${plain(cause)}`, `       ${plain(named)}`];
}
