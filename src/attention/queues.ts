import { timeOfId } from "../lib/ids.ts";
import { LIMITS } from "../limits/catalogue.ts";
import { Deliveries, RETRIES } from "../models/delivery.ts";
import { Issues } from "../models/issue.ts";
import { Sources } from "../models/source.ts";
import { Webhooks } from "../models/webhook.ts";
import type { Queued, Stores } from "../platform.ts";
import { readEmissionBytes } from "../store/limits/waiting-bytes.ts";
import { readWorkflowBacklog } from "../store/limits/workflow-backlog.ts";
import type { QueuesView } from "./queues-schema.ts";

const SHOWN = LIMITS.queuesShown.value;
const COUNTED = LIMITS.attentionCounted.value;
/** Listeners and sources of an account that are looked at, the newest. */
const LOOKED_AT = 10_000;
/** A listener with more deliveries than are counted ends a round; the next begins behind it. */
const MOST_ROUNDS = 10;

const sum = (numbers: number[]): number => numbers.reduce((all, one) => all + one, 0);

/**
 * Returns what waits in the queues of an account, by listener and by source. It is read when somebody asks, from what the queues
 * are made of: nothing is kept for it.
 */
export async function readQueues(platform: Stores & Queued, ownerId: string): Promise<QueuesView> {
  const [deliveries, runs, queuedBytes, emissionBytes, [workflowEvents]] = await Promise.all([
    readDeliveryQueues(platform, ownerId),
    readRunQueues(platform, ownerId),
    platform.queued.read(ownerId),
    readEmissionBytes(platform, ownerId),
    readWorkflowBacklog(platform, ownerId),
  ]);
  return {
    totals: {
      due: sum(deliveries.map(({ due }) => due)),
      retries: sum(deliveries.map(({ retries }) => retries)),
      runs: sum(runs.map(({ waiting }) => waiting)),
      queued_bytes: queuedBytes,
      emission_bytes: emissionBytes,
      workflow_events: workflowEvents,
    },
    deliveries: await named(platform, deliveries),
    runs: await withOldest(platform, runs),
  };
}

type ListenerQueue = Omit<QueuesView["deliveries"][number], "listener_name">;

/** What waits at each listener of which something waits, that which has waited longest first. */
async function readDeliveryQueues(platform: Stores & Queued, ownerId: string): Promise<ListenerQueue[]> {
  const [due, retries] = await Promise.all([readDue(platform, ownerId), readRetries(platform, ownerId)]);
  const ids = new Set([...due.keys(), ...retries.keys()]);
  const queues = [...ids].map(id => ({
    listener_id: id,
    due: due.get(id)?.count ?? 0,
    oldest_due_ms: due.get(id)?.oldestMs ?? null,
    retries: retries.get(id)?.count ?? 0,
    oldest_retry_ms: retries.get(id)?.oldestMs ?? null,
  }));
  return queues.sort((a, b) => sinceOf(a) - sinceOf(b));
}

const sinceOf = ({ oldest_due_ms, oldest_retry_ms }: ListenerQueue): number =>
  Math.min(oldest_due_ms ?? Number.POSITIVE_INFINITY, oldest_retry_ms ?? Number.POSITIVE_INFINITY);

interface Waiting {
  count: number;
  oldestMs: number;
}

/** What is due at each listener now. The index begins with the listener, so that a round reads one after the other. */
async function readDue({ mongo, clock }: Stores, ownerId: string): Promise<Map<string, Waiting>> {
  const listeners = await Webhooks(mongo)
    .find({ owner_id: ownerId }, { _id: 1 })
    .sort({ _id: -1 })
    .limit(LOOKED_AT)
    .lean();
  let ids = listeners.map(({ _id }) => _id).sort();
  const found = new Map<string, Waiting>();
  for (let round = 0; round < MOST_ROUNDS && ids.length > 0; round += 1) {
    const rows = await Deliveries(mongo)
      .aggregate<{ _id: string; count: number; oldest: number }>([
        {
          $match: { webhook_id: { $in: ids }, state: "pending", next_attempt_at_ms: { $lte: clock() } },
        },
        { $limit: COUNTED },
        { $group: { _id: "$webhook_id", count: { $sum: 1 }, oldest: { $min: "$next_attempt_at_ms" } } },
      ])
      .hint("due_at_webhook");
    for (const { _id, count, oldest } of rows) found.set(_id, { count, oldestMs: oldest });
    if (sum(rows.map(({ count }) => count)) < COUNTED) break;
    const last =
      rows
        .map(({ _id }) => _id)
        .sort()
        .at(-1) ?? "";
    ids = ids.filter(id => id > last);
  }
  return found;
}

/** What waits for a retry at each listener: the deliveries with an issue, the oldest of the account first. */
async function readRetries({ mongo }: Stores, ownerId: string): Promise<Map<string, Waiting>> {
  const rows = await Deliveries(mongo)
    .aggregate<{ _id: string; count: number; oldest: string }>([
      { $match: { owner_id: ownerId, state: "pending", issue_id: { $gt: "" } } },
      { $limit: COUNTED },
      { $group: { _id: "$issue_id", count: { $sum: 1 }, oldest: { $min: "$_id" } } },
    ])
    .hint(RETRIES);
  const issues = await Issues(mongo)
    .find({ _id: { $in: rows.map(({ _id }) => _id) } }, { listener_id: 1 })
    .lean();
  const listenerOf = new Map(issues.map(({ _id, listener_id }) => [_id, listener_id]));
  const found = new Map<string, Waiting>();
  for (const { _id, count, oldest } of rows) {
    const listener = listenerOf.get(_id);
    if (listener === undefined) continue;
    const known = found.get(listener);
    const oldestMs = timeOfId(oldest) ?? 0;
    found.set(listener, {
      count: count + (known?.count ?? 0),
      oldestMs: Math.min(oldestMs, known?.oldestMs ?? oldestMs),
    });
  }
  return found;
}

async function named({ mongo }: Stores, queues: ListenerQueue[]): Promise<QueuesView["deliveries"]> {
  const shown = queues.slice(0, SHOWN);
  const listeners = await Webhooks(mongo)
    .find({ _id: { $in: shown.map(({ listener_id }) => listener_id) } }, { name: 1 })
    .lean();
  const nameOf = new Map(listeners.map(({ _id, name }) => [_id, name]));
  return shown.map(queue => ({ ...queue, listener_name: nameOf.get(queue.listener_id) ?? null }));
}

type SourceQueue = Omit<QueuesView["runs"][number], "oldest_ms">;

/** The sources of which runs wait, the longest queue first. */
async function readRunQueues(platform: Stores & Queued, ownerId: string): Promise<SourceQueue[]> {
  const sources = await Sources(platform.mongo)
    .find({ owner_id: ownerId, state: "ready" }, { name: 1 })
    .sort({ _id: -1 })
    .limit(LOOKED_AT)
    .lean();
  const listed = new Set(await platform.runQueue.listedAmong(sources.map(({ _id }) => _id)));
  const queues = await Promise.all(
    sources
      .filter(({ _id }) => listed.has(_id))
      .map(async ({ _id, name }) => ({
        ...{ source_id: _id, source_name: name },
        waiting: await platform.runQueue.length(_id),
      })),
  );
  return queues.filter(({ waiting }) => waiting > 0).sort((a, b) => b.waiting - a.waiting);
}

/** Reads since when the first run of each waits; a change that waits has no time of its own here. */
async function withOldest({ runQueue }: Queued, queues: SourceQueue[]): Promise<QueuesView["runs"]> {
  const shown = await Promise.all(
    queues.slice(0, SHOWN).map(async queue => {
      const first = await runQueue.first(queue.source_id);
      return { ...queue, oldest_ms: first === null ? null : triggeredAt(first) };
    }),
  );
  return shown.sort((a, b) => (a.oldest_ms ?? 0) - (b.oldest_ms ?? 0));
}

/** Of an item of a run queue, which may be of any release. */
function triggeredAt(text: string): number | null {
  const { at_ms } = JSON.parse(text) as { at_ms?: unknown };
  return typeof at_ms === "number" ? at_ms : null;
}
