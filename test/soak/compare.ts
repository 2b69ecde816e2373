import { eventScore } from "../../src/lib/ids.ts";
import type { Arrival } from "../faults/counting-receiver.ts";
import type { ExpectedWebhook, FaultTime, Model, SentEvent } from "./model.ts";
import { PUBLISHED } from "./publish-over-http.ts";

/** One line of the result: how many deviations of a sort, and the first few. */
export interface Row {
  what: string;
  count: number;
  examples: string[];
  /** False for a number that is only to be known. */
  isDeviation: boolean;
}

type Arrivals = (path: string) => ReadonlyMap<string, Arrival>;

const MOST_EXAMPLES = 5;
/** How much later than its interval a timer's next run may be due: for a process or a store that was away. */
export const TIMER_GRACE_MS = 30_000;
/** An attempt that was under way when its webhook was deleted may arrive so much later. */
const DELETED_GRACE_MS = 30_000;
/**
 * Between an event's id and its storing a worker may be killed or hang, or MongoDB may be away; later events pass that one
 * then (docs/decisions/0011-order-and-rates.md).
 */
const PASSING_MS = 1500;

export function rowOf(what: string, examples: string[], isDeviation = true): Row {
  return { what, count: examples.length, examples: examples.slice(0, MOST_EXAMPLES), isDeviation };
}

const info = (what: string, count: number): Row => ({ what, count, examples: [], isDeviation: false });

const scoreOf = (arrival?: Arrival): number => eventScore([...(arrival?.eventIds ?? [])][0] ?? "") ?? 0;

/** Compares what arrived with what was sent. Pure. */
export function compare(model: Model, arrivals: Arrivals): Row[] {
  const lost: string[] = [];
  const unexpected: string[] = [];
  const otherIds: string[] = [];
  const otherEvents: string[] = [];
  const afterDeletion: string[] = [];
  let delivered = 0;
  let repeats = 0;
  const timerPaths = new Set(model.timers.map(({ path }) => path));
  const eventIdsOf = new Map<string, Set<string>>();
  for (const webhook of model.webhooks) {
    const { path } = webhook;
    const arrived = arrivals(path);
    const { must, may } = expectationOf(model, webhook);
    for (const key of must) {
      if (!isIn(arrived.get(key), webhook)) lost.push(`${key} at ${path}`);
    }
    for (const [key, arrival] of arrived) {
      if (arrival.deliveredAtMs !== undefined) delivered += 1;
      repeats += arrival.repeats;
      if (!timerPaths.has(path) && !may.has(key)) unexpected.push(`${key} at ${path}`);
      if (arrival.webhookIds.size > 1)
        otherIds.push(`${key} at ${path}: ${[...arrival.webhookIds].join(", ")}`);
      const ids = eventIdsOf.get(key) ?? new Set();
      // A timer's key is a time only.
      if (!timerPaths.has(path)) eventIdsOf.set(key, new Set([...ids, ...arrival.eventIds]));
      const isLate =
        webhook.deletedAtMs !== undefined && arrival.atMs > webhook.deletedAtMs + DELETED_GRACE_MS;
      if (isLate) afterDeletion.push(`${key} at ${path}`);
    }
  }
  for (const [key, ids] of eventIdsOf) if (ids.size > 1) otherEvents.push(`${key}: ${[...ids].join(", ")}`);
  const order = orderOfWebhooks(model, arrivals);
  return [
    info("accepted", model.acceptedCount()),
    info("accepted by publishing over HTTP", model.acceptedCount(PUBLISHED)),
    info("delivered", delivered),
    rowOf("lost", lost),
    rowOf("doubled under another webhook-id", otherIds),
    rowOf("doubled as another event", otherEvents),
    info("repeated under the same webhook-id (allowed)", repeats),
    rowOf("arrived unexpectedly", unexpected),
    rowOf("arrived after the webhook's deletion", afterDeletion),
    rowOf("out of order at an ordered webhook", order.wrong),
    rowOf("passed one that a killed or hanging worker held (allowed)", order.explained, false),
    rowOf("event ids out of order in a series", orderOfSeries(model, arrivals)),
    rowOf("event ids out of order in a request", orderOfBatches(model, arrivals)),
    rowOf("handled by an earlier version", versions(model, arrivals)),
    rowOf("counter in $.service.db", counters(arrivals)),
    ...timers(model, arrivals),
    ...observed(model),
  ];
}

/** The keys that must arrive at a webhook, and those that may. */
function expectationOf(model: Model, webhook: ExpectedWebhook): { must: Set<string>; may: Set<string> } {
  const [must, may] = [new Set<string>(), new Set<string>()];
  for (const { emitter, sinceMs, matches } of webhook.subscriptions) {
    for (const event of model.eventsOf(emitter)) {
      if (matches && !matches(event)) continue;
      may.add(event.key);
      const isSure = event.acceptedAtMs !== undefined && event.atMs >= sinceMs;
      if (isSure && webhook.deletedAtMs === undefined) must.add(event.key);
    }
  }
  return { must, may };
}

/** A request that fails is not the end of it, unless the endpoint fails each. */
function isIn(arrival: Arrival | undefined, { isFailing }: ExpectedWebhook): boolean {
  return isFailing ? arrival !== undefined : arrival?.deliveredAtMs !== undefined;
}

function orderOfWebhooks(model: Model, arrivals: Arrivals): { wrong: string[]; explained: string[] } {
  const [wrong, explained]: string[][] = [[], []];
  for (const { path } of model.webhooks.filter(({ isOrdered }) => isOrdered)) {
    let highest = 0;
    for (const [key, arrival] of [...arrivals(path)].sort(([, one], [, other]) => one.atMs - other.atMs)) {
      const score = scoreOf(arrival);
      const line = `${key} (${[...arrival.eventIds]}) at ${path}`;
      if (score < highest) (wasHeld(arrival, model.faults) ? explained : wrong)?.push(line);
      highest = Math.max(highest, score);
    }
  }
  return { wrong: wrong ?? [], explained: explained ?? [] };
}

/** Whether an event got its id when a fault was about to begin, or in effect. */
function wasHeld(arrival: Arrival, faults: FaultTime[]): boolean {
  const atMs = Number([...arrival.eventIds][0]?.split("-")[0]);
  return faults.some(
    ({ holdsEmissions, fromMs, toMs }) =>
      holdsEmissions && atMs > fromMs - PASSING_MS && atMs < toMs + PASSING_MS,
  );
}

function orderOfSeries(model: Model, arrivals: Arrivals): string[] {
  const wrong: string[] = [];
  for (const emitter of model.inSeries) {
    const arrived = arrivals(`/${emitter}`);
    let highest = 0;
    let before = "";
    for (const { key, acceptedAtMs } of model.eventsOf(emitter)) {
      const arrival = arrived.get(key);
      if (!arrival || acceptedAtMs === undefined) continue;
      const score = scoreOf(arrival);
      if (score < highest) wrong.push(`${key} (${[...arrival.eventIds]}) before ${before}`);
      else before = `${key} (${[...arrival.eventIds]})`;
      highest = Math.max(highest, score);
    }
  }
  return wrong;
}

function orderOfBatches({ batches, webhooks }: Model, arrivals: Arrivals): string[] {
  const wrong: string[] = [];
  for (const { path } of webhooks) {
    const arrived = arrivals(path);
    for (const batch of batches) {
      const scores = batch.flatMap(({ key }) => scoreOf(arrived.get(key)) || []);
      const at = scores.findIndex((score, i) => score <= (scores[i - 1] ?? 0));
      if (at >= 0) wrong.push(`the request of ${batch[0]?.key} at ${path}, number ${at + 1} that arrived`);
    }
  }
  return wrong;
}

function versions(model: Model, arrivals: Arrivals): string[] {
  const events: SentEvent[] = model.eventsOf("versioned");
  const arrived = arrivals("/versioned");
  return events.flatMap(({ key, version = 0 }) => {
    const seen = arrived.get(key)?.event.version as number | undefined;
    return seen !== undefined && seen < version ? [`${key} by ${seen}, not ${version}`] : [];
  });
}

/** The counts must be 1, 2, 3, … in the order of the event ids. */
function counters(arrivals: Arrivals): string[] {
  const inOrder = [...arrivals("/counting")].sort(([, one], [, other]) => scoreOf(one) - scoreOf(other));
  return inOrder.flatMap(([key, { event, eventIds }], i) => {
    const isRight = event.count === i + 1;
    return isRight ? [] : [`${key} (${[...eventIds]}) counted ${event.count}, not ${i + 1}`];
  });
}

function timers(model: Model, arrivals: Arrivals): Row[] {
  const gaps: string[] = [];
  const doubled: string[] = [];
  let longestMs = 0;
  for (const { path, intervalMs, sinceMs, untilMs = Date.now() } of model.timers) {
    const arrived = arrivals(path);
    for (const [key, { eventIds }] of arrived) {
      if (eventIds.size > 1) doubled.push(`${key} at ${path}: ${[...eventIds].join(", ")}`);
    }
    const moments = [...arrived.keys()].map(key => Number(key) * 1000).sort((one, other) => one - other);
    let lastMs = sinceMs;
    for (const moment of [...moments, untilMs]) {
      const gapMs = moment - lastMs;
      longestMs = Math.max(longestMs, gapMs - intervalMs);
      if (gapMs > intervalMs + TIMER_GRACE_MS) {
        gaps.push(
          `${path}: ${Math.round(gapMs / 1000)} s without a tick from ${new Date(lastMs).toISOString()}`,
        );
      }
      lastMs = Math.max(lastMs, moment);
    }
  }
  return [
    rowOf(`timers silent for over ${TIMER_GRACE_MS / 1000} s`, gaps),
    info("longest delay of a tick, in seconds", Math.round(longestMs / 1000)),
    rowOf("doubled ticks", doubled),
  ];
}

function observed(model: Model): Row[] {
  const whats = [
    "requests without a webhook",
    "wrong signatures",
    "wrong responses",
    "runs that did not end",
    "rejected changes",
    "rejected publications",
  ];
  return whats.map(what =>
    rowOf(
      what,
      model.observed.filter(one => one.what === what).map(({ example }) => example),
    ),
  );
}
