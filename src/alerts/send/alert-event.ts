import type { Alert } from "../../models/alert.ts";
import type { Emission } from "../../queues/emissions.ts";
import { ALERTS } from "../channel.ts";

/** Returns the emission of an alert, whose event listeners receive (docs/alerts.md). */
export const emissionOf = ({ _id, owner_id, type, subject, message, details, at_ms }: Alert): Emission => ({
  emitter_id: owner_id,
  emit_id: _id,
  name: ALERTS,
  event: { id: _id, type, account_id: owner_id, subject, message, details, at_ms },
  summary: message,
  ts: at_ms,
});
