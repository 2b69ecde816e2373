import { eventScore } from "../../src/lib/ids.ts";
import type { Arrival } from "../faults/counting-receiver.ts";
import type { Sent } from "./send.ts";

/** What became of the events of one load. */
export interface Outcome {
  accepted: number;
  /** Distinct events at the receiver, those of requests without a response too. */
  delivered: number;
  /** Accepted, and never at the receiver. */
  lost: string[];
  /** Events that arrived under more than one id, and ids of more than one event. */
  doubled: string[];
  /** Events whose id is not above that of an event that came before, in a request or at the source. */
  disordered: string[];
  /** Requests to the receiver beyond the first of each event, under the same id. */
  repeats: number;
  /** The longest times without an arrival, and without an accepted request, while events were sent. */
  longestGapMs: number;
  longestRejectedMs: number;
  /** From the last request until everything had arrived and nothing was open. */
  settledMs: number;
  /** Shares of the requests that got a 5xx, and that got no response. */
  share5xx: number;
  shareSilent: number;
  /** Other responses, by what they were. */
  unexpected: string[];
  /** The longest that something was open after the last request, and no queue had a job for it: what waits for a sweep. */
  idleMs: number;
  /** What is still open in the end. */
  stuck: Record<string, unknown>;
}

interface Given {
  requests: Sent[];
  pauses: number[];
  arrivals: ReadonlyMap<string, Arrival>;
  startedAt: number;
  stoppedAt: number;
  doneAt: number;
  stuck: Record<string, unknown>;
  idleMs: number;
}

/** Counts what became of a load. */
export function outcomeOf({
  requests,
  pauses,
  arrivals,
  startedAt,
  stoppedAt,
  doneAt,
  stuck,
  idleMs,
}: Given): Outcome {
  const accepted = requests.filter(({ result }) => result === "accepted");
  const keys = accepted.flatMap(one => one.keys);
  const gap = (times: number[]) => longestGap([startedAt, ...times.filter(at => at < stoppedAt), stoppedAt]);
  const share = (result: Sent["result"]) =>
    requests.filter(one => one.result === result).length / Math.max(1, requests.length);
  const all = [...arrivals.values()];
  return {
    accepted: keys.length,
    delivered: arrivals.size,
    lost: keys.filter(key => !arrivals.has(key)),
    doubled: doubled(arrivals),
    disordered: disordered(accepted, arrivals),
    repeats: all.reduce((sum, one) => sum + one.requests - 1, 0),
    longestGapMs: gap(all.map(({ atMs }) => atMs)),
    longestRejectedMs: gap([...pauses, ...accepted.map(({ endedAt }) => endedAt)]),
    settledMs: doneAt - stoppedAt,
    share5xx: share("5xx"),
    shareSilent: share("silent"),
    unexpected: [...new Set(requests.map(({ result }) => result))].filter(one => one.startsWith("status")),
    idleMs,
    stuck,
  };
}

function longestGap(times: number[]): number {
  times.sort((a, b) => a - b);
  return Math.max(0, ...times.slice(1).map((at, i) => at - (times[i] ?? at)));
}

function doubled(arrivals: ReadonlyMap<string, Arrival>): string[] {
  const owners = new Map<string, string>();
  return [...arrivals].flatMap(([key, { webhookIds, eventIds }]) => {
    const isShared = [...webhookIds].some(id => (owners.get(id) ?? key) !== key);
    for (const id of webhookIds) owners.set(id, key);
    return webhookIds.size > 1 || eventIds.size > 1 || isShared ? [key] : [];
  });
}

function disordered(accepted: Sent[], arrivals: ReadonlyMap<string, Arrival>): string[] {
  const scoreOf = (key: string) => eventScore([...(arrivals.get(key)?.eventIds ?? [])][0] ?? "");
  /** Those that arrived, with their scores. */
  const scored = (keys: string[]) =>
    keys.flatMap(key => {
      const score = scoreOf(key);
      return score === null ? [] : [{ key, score }];
    });
  const inBatches = accepted
    .filter(({ kind }) => kind === "batch")
    .flatMap(({ keys }) => {
      const found = scored(keys);
      return found.filter(({ score }, i) => score <= (found[i - 1]?.score ?? 0));
    });
  // Runs of one source are serial: what was accepted before another request was sent comes first.
  const requests = accepted.filter(({ kind }) => kind === "source");
  const byEnd = [...requests].sort((a, b) => a.endedAt - b.endedAt);
  let [ended, highest] = [0, 0];
  const atSource = [...requests]
    .sort((a, b) => a.sentAt - b.sentAt)
    .flatMap(({ keys, sentAt }) => {
      for (; (byEnd[ended]?.endedAt ?? sentAt) < sentAt; ended++) {
        for (const { score } of scored(byEnd[ended]?.keys ?? [])) highest = Math.max(highest, score);
      }
      return scored(keys).filter(({ score }) => score <= highest);
    });
  return [...inBatches, ...atSource].map(({ key }) => key);
}
