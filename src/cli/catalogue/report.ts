import { NO_NETWORK } from "../../egress/dial.ts";
import { note, plain, table, timeOf } from "../output.ts";

/** How far a component came in one respect: `needs_props` if values are missing that the props file could have. */
type Result = "ok" | "failed" | "needs_props" | "not_tried";

/** One respect in which a component is examined. */
export interface Step {
  result: Result;
  /** Why it is not `ok`, in one line; for `needs_props` the names of the props. */
  cause?: string;
}

/** What was found about one component. */
export interface Outcome {
  /** Its path, or its address. */
  at: string;
  key: string | null;
  /** Saved: built with its npm packages, and described. */
  described: Step;
  /** Deployed as a source or as an action, with its hooks. */
  deployed: Step;
  /** Run once. */
  ran: Step;
}

/** The respects in their order; after one that is not `ok` the others are not tried. */
const STEPS = ["described", "deployed", "ran"] as const;
export type StepName = (typeof STEPS)[number];

/**
 * Where a component stops that is run with made-up accounts and without a network: at its end, at the network, which is as far as it
 * can come, in its own code, at something that the platform lacks, or nowhere within its time. `not_run` needs props.
 */
export const STOPS = ["end", "network", "own_code", "platform", "timeout", "not_run"] as const;
export type Stop = (typeof STOPS)[number];

const NETWORK = new RegExp(
  `${NO_NETWORK}|\\b(?:getaddrinfo|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|EHOSTUNREACH|ETIMEDOUT)\\b`,
);
const TIMEOUT = /\bTimeout: |took more than \d+ s|longer than \d+ ms/;
const PLATFORM =
  /is not with the component|components have no |Headwater does not provide|(?:is|are) not supported|can't be used|can't be resolved|\bEACCES: permission denied|\b(?:Out of Memory|Quota Exceeded|Crashed|Sandbox Lost|NotCapable|NotSupported)\b|not implemented|the server failed|exceeds? |could not be (?:installed|fetched)|has no such file/i;

/** Returns where the component of an outcome stopped. */
export function stopOf(outcome: Outcome): Stop {
  const step = STEPS.map(name => outcome[name]).find(({ result }) => result !== "ok");
  if (step === undefined) return "end";
  if (step.result !== "failed") return "not_run";
  const cause = step.cause ?? "";
  if (NETWORK.test(cause)) return "network";
  if (TIMEOUT.test(cause)) return "timeout";
  return PLATFORM.test(cause) ? "platform" : "own_code";
}

/** Returns how many components stopped where. */
function countStops(outcomes: readonly Outcome[]): Record<Stop, number> {
  const counts = Object.fromEntries(STOPS.map(stop => [stop, 0])) as Record<Stop, number>;
  for (const outcome of outcomes) counts[stopOf(outcome)] += 1;
  return counts;
}

/** Components that failed for the same reason. */
interface Cause {
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

const RESULTS = ["ok", "failed", "needs_props", "not_tried"] as const satisfies Result[];
/** Of a group of causes, so many components are named. */
const NAMED = 3;

/** Returns how many components have which result, by step. */
function countResults(outcomes: readonly Outcome[]): Record<StepName, Record<Result, number>> {
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

const LINE_EVERY_MS = 10_000;
const TO_LINE_START = "\r\u001b[2K";

/** A line on the standard error that says how far an examination is; without a terminal, another one each 10 s. */
export class Progress {
  readonly #total: number;
  readonly #isTerminal = process.stderr.isTTY === true;
  #saidAt = performance.now();

  readonly #hasStops: boolean;

  constructor(total: number, hasStops: boolean) {
    this.#total = total;
    this.#hasStops = hasStops;
  }

  show(outcomes: readonly Outcome[]): void {
    const { described, deployed, ran } = countResults(outcomes);
    const counts = `${described.ok} described, ${deployed.ok} deployed, ${ran.ok} ran`;
    const stops = this.#hasStops ? `, ${countStops(outcomes).network} stopped at the network` : "";
    this.#say(`${outcomes.length} of ${this.#total}: ${counts}${stops}`);
  }

  waits(untilMs: number, why: string): void {
    this.#say(`until ${timeOf(untilMs)}: ${why}`);
  }

  /** Removes the line of a terminal, for what is printed next. */
  end(): void {
    if (this.#isTerminal) process.stderr.write(TO_LINE_START);
  }

  #say(text: string): void {
    if (this.#isTerminal) return void process.stderr.write(TO_LINE_START + text);
    if (performance.now() - this.#saidAt < LINE_EVERY_MS) return;
    this.#saidAt = performance.now();
    note(text);
  }
}
