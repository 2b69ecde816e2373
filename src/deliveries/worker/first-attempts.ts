import { failpoint } from "../../lib/failpoint.ts";
import type { Calling, Working } from "../../platform.ts";
import type { FirstAttempts } from "../../queues/deliveries.ts";
import { enqueueDrains } from "../../queues/enqueue-drain.ts";
import type { JobContext } from "../../queues/run-worker.ts";
import { traceField } from "../../tracing/trace-context.ts";
import { countUnsent, endedDelivery, insertNew } from "../attempt/record.ts";
import { deliveryId } from "../dispatch/create.ts";
import { BUSY } from "../limits/permit-cache.ts";
import { isRateLimited } from "../limits/rate.ts";
import { type LoadedFirstAttempts, loadFirstAttempts } from "./load-first-attempts.ts";
import { makeAttempts } from "./make-attempts.ts";
import { SETTLE_MS } from "./order.ts";
import type { Admit, LogFields, SharedByAttempts } from "./shared.ts";

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
