import type { Delivery } from "../../models/delivery.ts";
import type { Observed } from "../../platform.ts";

/** A delivery as live views receive it: with its last attempt, and without what the endpoint responded. */
function shown({ attempts, ...delivery }: Delivery): Delivery {
  const last = attempts.slice(-1).map(({ output: _output, ...attempt }) => ({ ...attempt, response: "" }));
  return { ...delivery, attempts: last };
}

/** Counts the last attempt of a delivery for its webhook, its emitter and its account, and shows it to live views. */
export function noteAttempt({ activity }: Observed, delivery: Delivery): void {
  const { _id, owner_id, webhook_id, emitter_id, state, attempts } = delivery;
  const latencyMs = attempts.at(-1)?.latency_ms;
  const outcome = state === "pending" ? "retried" : state;
  activity.count([owner_id, webhook_id, emitter_id], ["attempts", outcome], latencyMs);
  activity.show(owner_id, "deliveries", _id, () => shown(delivery));
}

/** Counts a delivery that ended without another attempt. */
export function noteEnded({ activity }: Observed, delivery: Delivery): void {
  const { _id, owner_id, webhook_id, emitter_id, state } = delivery;
  if (state !== "pending") activity.count([owner_id, webhook_id, emitter_id], [state]);
  activity.show(owner_id, "deliveries", _id, () => shown(delivery));
}

/** Shows a delivery that was changed by hand. */
export function noteChange({ activity }: Observed, delivery: Delivery): void {
  activity.show(delivery.owner_id, "deliveries", delivery._id, () => shown(delivery));
}
