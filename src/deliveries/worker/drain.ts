import { Webhooks } from "../../models/webhook.ts";
import type { Drain } from "../../queues/deliveries.ts";
import type { JobContext } from "../../queues/run-worker.ts";
import { releasePermits, unlimited } from "../limits/permits.ts";
import type { DeliveryDeps, LogFields } from "./deps.ts";
import type { SharedByLaterAttempts } from "./next-attempt.ts";
import { sendOrdered } from "./ordered.ts";
import { refillWaitlist } from "./refill-waitlist.ts";

/** Handles a `drain` job: takes up what waits at a webhook, as the webhook is now; its settings may have changed. */
export async function drain(
  platform: DeliveryDeps,
  context: Pick<JobContext<Drain>, "job" | "jobId" | "signal" | "isStopping">,
  shared: SharedByLaterAttempts,
): Promise<LogFields> {
  const { webhook_id, reason } = context.job;
  const webhook = await Webhooks(platform.mongo).findById(webhook_id).lean();
  if (webhook?.active && webhook.ordered) return await sendOrdered(platform, webhook, context, shared);
  const limits = webhook?.active
    ? webhook
    : unlimited({ _id: webhook_id, owner_id: webhook?.owner_id ?? context.job.account_id });
  // The deliveries of a webhook that is not ordered any more waited in MongoDB too.
  const added = reason === "tokens" ? 0 : await refillWaitlist(platform, limits);
  // Releasing nothing grants the free permits to the waitlist.
  await releasePermits(platform, limits, []);
  return { webhook_id, result: "waitlist-drained", ...(added > 0 && { added }) };
}
