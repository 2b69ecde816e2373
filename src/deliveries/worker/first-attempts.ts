import { subscriberAccess } from "../../accounts/access.ts";
import { failpoint } from "../../lib/failpoint.ts";
import { Deliveries, type Delivery } from "../../models/delivery.ts";
import { StoredEvents } from "../../models/event.ts";
import { type Subscription, Subscriptions } from "../../models/subscription.ts";
import type { Webhook } from "../../models/webhook.ts";
import type { Calling, Working } from "../../platform.ts";
import { enqueueDrains, type FirstAttempts } from "../../queues/deliveries.ts";
import type { JobContext } from "../../queues/job-kinds.ts";
import { isSubscriptionEnded } from "../../subscriptions/find.ts";
import { traceField } from "../../tracing/trace-context.ts";
import { lookUpWebhooks } from "../../webhooks/find.ts";
import { agentAccess } from "../attempt/agent-access.ts";
import { prepare } from "../attempt/prepare.ts";
import { countUnsent, endedDelivery, insertNew, type Unsent } from "../attempt/record.ts";
import { type DispatchListener, deliveryId, newDelivery } from "../dispatch/create.ts";
import { BUSY } from "../limits/permit-cache.ts";
import { isRateLimited } from "../limits/webhook-limits.ts";
import type { Admit, Due, LogFields, SharedByAttempts } from "./due.ts";
import { makeAttempts } from "./make-attempts.ts";
import { SETTLE_MS } from "./order.ts";

/**
 * Handles a `first-attempts` job: makes the attempts that were not made yet, in parallel. One that gets no permit or token soon
 * becomes a pending delivery that is due. Returns fields for the job's log line. Throws what kept an attempt from being made
 * or recorded: then the job may be started again, and makes what is missing.
 */
export async function makeFirstAttempts(
  platform: Working & Calling,
  { job, attemptsStarted, signal }: Pick<JobContext<FirstAttempts>, "job" | "attemptsStarted" | "signal">,
  shared: SharedByAttempts,
): Promise<LogFields> {
  const loaded = await loadFirstAttempts(platform, job, attemptsStarted > 1);
  const { toSend, orderedWebhooks } = loaded;
  const unsent = await recordUnsent(platform, loaded);
  const dueAtMs = platform.clock() + SETTLE_MS;
  await enqueueDrains(
    platform,
    [...orderedWebhooks].map(({ _id: webhook_id, owner_id }) => ({ webhook_id, owner_id, dueAtMs })),
  );
  const mayBeStored = attemptsStarted > 1 || job.is_redispatch === true;
  const counts = await makeAttempts(
    platform,
    toSend,
    { admit: admitFirst(shared), mayBeStored, signal },
    shared,
  );
  failpoint("attempts-recorded");
  shared.clearPendingDispatch(job.events.map(event => event.id));
  return { ...idsOf(job), events: job.events.length, attempts: toSend.length, unsent, ...counts };
}

/** Admits first attempts: with a permit, a token if the rate is limited, and a place among the attempts in flight. */
const admitFirst =
  ({ rateLimits, permitCache, inFlight }: SharedByAttempts): Admit =>
  async (webhook, send) => {
    if (rateLimits.isExhausted(webhook)) return BUSY;
    return await permitCache.use(webhook, async noteHealth => {
      // Only now: a token acquired early and kept while its owner waits for a permit would be one too many later.
      if (isRateLimited(webhook) && !(await rateLimits.tryAcquire(webhook))) return BUSY;
      const leave = await inFlight.enter(webhook);
      if (!leave) return BUSY;
      try {
        const attempted = await send();
        noteHealth(attempted.decision.kind !== "delivered");
        return attempted;
      } finally {
        leave();
      }
    });
  };

/** The ids of a job's only event and its only delivery; a job of many names them in a debug line for each attempt. */
function idsOf({ events }: FirstAttempts): LogFields {
  const [event] = events;
  if (!event || events.length > 1) return {};
  const { event_id, emitter_id, listeners } = event;
  const ids = { event_id, emitter_id, ...traceField(event.trace) };
  const [subscriptionId = "", webhook_id] = listeners[0] ?? [];
  if (listeners.length !== 1) return ids;
  return { ...ids, webhook_id, delivery_id: deliveryId(event, subscriptionId) };
}

/** Records what is not sent now, and counts what is not sent at all; returns how many those are. */
async function recordUnsent(
  platform: Working & Calling,
  { ended, dropped, ordered }: LoadedFirstAttempts,
): Promise<number> {
  const rows = [...ended.map(one => endedDelivery(one, platform.clock())), ...ordered];
  const inserted = new Set((await insertNew(platform, rows)).map(({ _id }) => _id));
  const unsent = [...ended.filter(({ delivery }) => inserted.has(delivery._id)), ...dropped];
  await countUnsent(platform, unsent);
  return unsent.length;
}

interface LoadedFirstAttempts {
  toSend: Due[];
  /** Deliveries that end without an attempt, and are recorded. */
  ended: Unsent[];
  /** Deliveries that are dropped without a record. */
  dropped: Unsent[];
  /** Deliveries to ordered webhooks, which a drain job sends. */
  ordered: Delivery[];
  /** Those webhooks, also if an earlier try recorded the deliveries. */
  orderedWebhooks: Set<Webhook>;
}

/**
 * Loads what a job of first attempts needs and prepares each attempt, as things are now: a webhook may have been deleted or
 * disabled since, a subscription ended, and an attempt made already if the job was started before.
 */
async function loadFirstAttempts(
  platform: Working & Calling,
  job: FirstAttempts,
  isRepeat: boolean,
): Promise<LoadedFirstAttempts> {
  const all = job.events.flatMap(event =>
    event.listeners.map(([subscriptionId, webhookId, ownerId]) => ({
      id: deliveryId(event, subscriptionId),
      event,
      listener: {
        subscriptionId,
        webhookId,
        ownerId,
        functionHash: event.functions?.[subscriptionId],
      },
    })),
  );
  await platform.routing.refresh(job.routing_version);
  const webhookIds = all.map(({ listener }) => listener.webhookId);
  const subscriptionIds = all.map(({ listener }) => listener.subscriptionId);
  const [webhooks, subscriptions, bodies, recorded] = await Promise.all([
    lookUpWebhooks(platform, webhookIds),
    findSubscriptions(platform, subscriptionIds),
    findBodies(platform, job),
    isRepeat || job.is_redispatch
      ? findRecorded(
          platform,
          all.map(({ id }) => id),
        )
      : new Set<string>(),
  ]);
  const loaded: LoadedFirstAttempts = {
    toSend: [],
    ended: [],
    dropped: [],
    ordered: [],
    orderedWebhooks: new Set(),
  };
  const ofAgents = await agentAccess(platform, webhooks.values());
  const nowMs = platform.clock();
  for (const { id, event, listener } of all) {
    const { subscriptionId, webhookId, ownerId } = listener;
    const webhook = webhooks.get(webhookId) ?? null;
    if (webhook?.active && webhook.ordered) loaded.orderedWebhooks.add(webhook);
    if (recorded.size > 0 && recorded.has(id)) continue;
    const subscription = { subscription_id: subscriptionId, emitter_id: event.emitter_id };
    const prepared = prepare({
      webhook,
      access: ofAgents.narrow(
        webhookId,
        await subscriberAccess(platform, {
          subscriber: ownerId,
          // A job of an older version does not name its account: access was asked when it was made.
          emitter: job.account_id ?? ownerId,
          listener: webhook?.owner_id ?? ownerId,
        }),
      ),
      isSubscribed: subscriptions.has(subscriptionId) || !(await isSubscriptionEnded(platform, subscription)),
      payload: event.body ?? bodies.get(event.id),
      nowMs,
    });
    if (prepared.kind !== "send") {
      const delivery = newDelivery(platform, event, listener, webhook, id);
      const list = prepared.kind === "end" ? loaded.ended : loaded.dropped;
      list.push({ delivery, reason: prepared.reason });
    } else if (prepared.webhook.ordered) {
      loaded.ordered.push(newDelivery(platform, event, listener, webhook, id));
    } else {
      const { webhook: found, body } = prepared;
      const functionHash = functionOf(subscriptions.get(subscriptionId), listener);
      loaded.toSend.push({
        deliveryId: id,
        event,
        listener,
        webhook: found,
        body,
        functionHash,
        row: undefined,
      });
    }
  }
  return loaded;
}

/** A subscription that was deleted together with its emitter has the function that it had. */
const functionOf = (subscription: KnownSubscription | undefined, { functionHash }: DispatchListener) =>
  (subscription ? subscription.function_hash : functionHash) ?? null;

type KnownSubscription = Pick<Subscription, "owner_id" | "function_hash">;

/** The subscriptions that still exist. */
function findSubscriptions(
  platform: Working & Calling,
  ids: string[],
): Promise<Map<string, KnownSubscription>> {
  return platform.routing.lookUp(
    "subscription",
    ids,
    async missing => {
      const found = await Subscriptions(platform.mongo)
        .find({ _id: { $in: missing } }, { owner_id: 1, function_hash: 1 })
        .lean();
      return new Map(found.map(subscription => [subscription._id, subscription]));
    },
    ({ owner_id }) => [owner_id],
  );
}

/** The deliveries that an earlier job has recorded. */
async function findRecorded(platform: Working & Calling, ids: string[]): Promise<Set<string>> {
  const found = await Deliveries(platform.mongo)
    .find({ _id: { $in: ids } }, { _id: 1 })
    .lean();
  return new Set(found.map(({ _id }) => _id));
}

async function findBodies(platform: Working & Calling, job: FirstAttempts): Promise<Map<string, string>> {
  const missing = job.events.filter(event => event.body === undefined).map(event => event.id);
  if (missing.length === 0) return new Map();
  const stored = await StoredEvents(platform.mongo)
    .find({ _id: { $in: missing } }, { event: 1 })
    .lean();
  return new Map(stored.map(({ _id, event }) => [_id, event]));
}
