import { plain, table } from "../output.ts";
import { type Cause, groupCauses } from "./causes.ts";
import { type Outcome, type Result, STEPS, type StepName } from "./outcome.ts";
import { countStops, stopOf } from "./stop.ts";

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

/** Returns the outcomes as a program reads them; with `hasStops`, also where each component stopped. */
export function reportJson(outcomes: readonly Outcome[], total: number, hasStops: boolean): object {
  return {
    components: total,
    examined: outcomes.length,
    ...countResults(outcomes),
    ...(hasStops && { stops: countStops(outcomes) }),
    causes: groupCauses(outcomes),
    outcomes: hasStops ? outcomes.map(one => ({ ...one, stop: stopOf(one) })) : outcomes,
  };
}

/** Returns the outcomes as a person reads them: how many came how far, and why the others did not. */
export function reportText(outcomes: readonly Outcome[], total: number, hasStops: boolean): string {
  const counts = countResults(outcomes);
  const rows = STEPS.map(step => [step, ...RESULTS.map(result => counts[step][result])]);
  // The network is as far as a component can come there: what stops elsewhere is what a person looks for.
  const causes = groupCauses(hasStops ? outcomes.filter(one => stopOf(one) !== "network") : outcomes);
  const stops = hasStops ? ["", "Where they stopped", "", stopTable(outcomes)] : [];
  const parts = STEPS.flatMap(step =>
    (["failed", "needs_props"] as const).flatMap(result => {
      const some = causes.filter(cause => cause.step === step && cause.result === result);
      return some.length === 0
        ? []
        : ["", `${titleOf(step, result)}: ${sum(some)}`, ...some.flatMap(linesOf)];
    }),
  );
  const head = `${outcomes.length} of ${total} components`;
  return [
    head,
    "",
    table(["", ...RESULTS.map(name => name.replace("_", " "))], rows),
    ...stops,
    ...parts,
  ].join("\n");
}

const sum = (causes: readonly Cause[]): number =>
  causes.reduce((count, { components }) => count + components.length, 0);

const stopTable = (outcomes: readonly Outcome[]): string =>
  table(
    ["", "components"],
    Object.entries(countStops(outcomes)).map(([stop, count]) => [stop.replace("_", " "), count]),
  );

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
