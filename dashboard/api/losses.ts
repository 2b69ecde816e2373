import { counted } from "../lib/format";
import type { CallOptions, List } from "./client";
import { headwater } from "./client";
import { callsOf } from "./listeners";
import { inAccount } from "./session";

/** How many rows a list has; only the number is read. */
const sizeOf = async (list: List<unknown>): Promise<number> => (await list).page_info.total_count;
const ONE = { limit: 1 };

/** The lines of what there is; `[how many, one, many, and what becomes of them]`. */
const linesOf = (...losses: [many: number, noun: string, plural: string, becomes: string][]): string[] =>
  losses
    .filter(([many]) => many > 0)
    .map(([many, noun, plural, becomes]) => `${counted(many, noun, plural)} ${becomes}`.trim());

type Loss = Parameters<typeof linesOf>[number];

const subscriptions = ["subscription", "subscriptions"] as const;
const waiting = (many: number): Loss => [
  many,
  "delivery that waits is",
  "deliveries that wait are",
  "cancelled",
];
const failures = (many: number): Loss => [
  many,
  "failed delivery",
  "failed deliveries",
  "can't be retried any more",
];

/** The subscriptions of an emitter, which may be a listener, too. */
async function connectionsOf(id: string, call: CallOptions): Promise<Loss[]> {
  const all = inAccount().subscriptions;
  const [from, to] = await Promise.all([
    sizeOf(all.list({ ...ONE, emitter_id: id }, call)),
    sizeOf(all.list({ ...ONE, listener_id: id }, call)),
  ]);
  return [
    [from, ...subscriptions, "by which others receive its events"],
    [to, ...subscriptions, "by which it listens to others"],
  ];
}

/** How much of a source's events is kept: of its channels, its errors and its logs. */
const keptOf = (id: string, call: CallOptions) =>
  Promise.all([
    sizeOf(headwater.sources.events(id, ONE, call)),
    sizeOf(headwater.sources.errors(id, ONE, call)),
    sizeOf(headwater.sources.logs(id, ONE, call)),
  ]);

/** What is gone with a source, as it is now. */
export async function lossesOfSource(id: string, call: CallOptions): Promise<string[]> {
  const [connections, [events, errors, logs], runs, pending] = await Promise.all([
    connectionsOf(id, call),
    keptOf(id, call),
    sizeOf(headwater.sources.runs(id, ONE, call)),
    sizeOf(inAccount().deliveries.list({ ...ONE, emitter_id: id, state: "pending" }, call)),
  ]);
  return linesOf(
    ...connections,
    waiting(pending),
    [events + errors + logs, "kept event, error or log line", "kept events, errors and log lines", ""],
    [runs, "run is", "runs are", "listed no longer"],
  );
}

/** What is gone with stored events of a source, as it is now; how many are older than one of them is not known. */
export async function lossesOfEvents(
  id: string,
  range: "one" | "older" | "all",
  call: CallOptions,
): Promise<string[]> {
  if (range === "one") return ["1 event"];
  const [events, errors, logs] = await keptOf(id, call);
  const upTo = range === "older" ? "at most, those up to this one" : "";
  return linesOf(
    [events, "event", "events", upTo],
    [errors, "error", "errors", upTo],
    [logs, "log line", "log lines", upTo],
  );
}

/** What is gone with a workflow, as it is now. */
export async function lossesOfWorkflow(id: string, call: CallOptions): Promise<string[]> {
  const [connections, events, errors] = await Promise.all([
    connectionsOf(id, call),
    sizeOf(headwater.workflows.events(id, ONE, call)),
    sizeOf(headwater.workflows.errors(id, ONE, call)),
  ]);
  return linesOf(...connections, [events + errors, "kept event or error", "kept events and errors", ""]);
}

/** What is gone with a webhook or destination, as it is now. */
export async function lossesOfListener(id: string, call: CallOptions): Promise<string[]> {
  const calls = callsOf(id);
  const [to, pending, failed, all] = await Promise.all([
    sizeOf(inAccount().subscriptions.list({ ...ONE, listener_id: id }, call)),
    sizeOf(calls.deliveries(id, { ...ONE, state: "pending" }, call)),
    sizeOf(calls.deliveries(id, { ...ONE, state: "failed" }, call)),
    sizeOf(calls.deliveries(id, ONE, call)),
  ]);
  return linesOf([to, ...subscriptions, ""], waiting(pending), failures(failed), [
    all,
    "delivery is",
    "deliveries are",
    "listed no longer, with their attempts",
  ]);
}

/** What is gone with a subscription, as it is now. */
export async function lossesOfSubscription(id: string, call: CallOptions): Promise<string[]> {
  const of = (state: "pending" | "failed") =>
    sizeOf(inAccount().deliveries.list({ ...ONE, subscription_id: id, state }, call));
  const [{ filter, function_hash }, pending, failed] = await Promise.all([
    headwater.subscriptions.get(id, call),
    of("pending"),
    of("failed"),
  ]);
  return [
    ...linesOf(waiting(pending), failures(failed)),
    ...(filter ? ["Its filter"] : []),
    ...(function_hash ? ["The code of its function"] : []),
  ];
}
