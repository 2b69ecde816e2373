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

const subscriptions = ["subscription", "subscriptions"] as const;

/** What is gone with a source, as it is now. */
export async function lossesOfSource(id: string, call: CallOptions): Promise<string[]> {
  const account = inAccount();
  const [from, to, events, errors, logs, runs, pending] = await Promise.all([
    sizeOf(account.subscriptions.list({ ...ONE, emitter_id: id }, call)),
    sizeOf(account.subscriptions.list({ ...ONE, listener_id: id }, call)),
    sizeOf(headwater.sources.events(id, ONE, call)),
    sizeOf(headwater.sources.errors(id, ONE, call)),
    sizeOf(headwater.sources.logs(id, ONE, call)),
    sizeOf(headwater.sources.runs(id, ONE, call)),
    sizeOf(account.deliveries.list({ ...ONE, emitter_id: id, state: "pending" }, call)),
  ]);
  return linesOf(
    [from, ...subscriptions, "by which others receive its events"],
    [to, ...subscriptions, "by which it listens to others"],
    [pending, "delivery that waits is", "deliveries that wait are", "cancelled"],
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
  const [events, errors, logs] = await Promise.all([
    sizeOf(headwater.sources.events(id, ONE, call)),
    sizeOf(headwater.sources.errors(id, ONE, call)),
    sizeOf(headwater.sources.logs(id, ONE, call)),
  ]);
  const upTo = range === "older" ? "at most, those up to this one" : "";
  return linesOf(
    [events, "event", "events", upTo],
    [errors, "error", "errors", upTo],
    [logs, "log line", "log lines", upTo],
  );
}

/** What is gone with a workflow, as it is now. */
export async function lossesOfWorkflow(id: string, call: CallOptions): Promise<string[]> {
  const account = inAccount();
  const [from, to, events, errors] = await Promise.all([
    sizeOf(account.subscriptions.list({ ...ONE, emitter_id: id }, call)),
    sizeOf(account.subscriptions.list({ ...ONE, listener_id: id }, call)),
    sizeOf(headwater.workflows.events(id, ONE, call)),
    sizeOf(headwater.workflows.errors(id, ONE, call)),
  ]);
  return linesOf(
    [from, ...subscriptions, "by which others receive its events"],
    [to, ...subscriptions, "by which it listens to others"],
    [events + errors, "kept event or error", "kept events and errors", ""],
  );
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
  return linesOf(
    [to, ...subscriptions, ""],
    [pending, "delivery that waits is", "deliveries that wait are", "cancelled"],
    [failed, "failed delivery", "failed deliveries", "can't be retried any more"],
    [all, "delivery is", "deliveries are", "listed no longer, with their attempts"],
  );
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
    ...linesOf(
      [pending, "delivery that waits is", "deliveries that wait are", "cancelled"],
      [failed, "failed delivery", "failed deliveries", "can't be retried any more"],
    ),
    ...(filter ? ["Its filter"] : []),
    ...(function_hash ? ["The code of its function"] : []),
  ];
}
