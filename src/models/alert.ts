import { Schema } from "mongoose";
import { collection, schemaOptions } from "../store/mongo.ts";

/** What an alert can say; a listener's filter selects by it (docs/alerts.md). */
export const ALERT_TYPES = [
  "webhook.failing",
  "webhook.will_be_disabled",
  "webhook.disabled",
  "webhook.recovered",
  "source.failing",
  "source.recovered",
  "connection.broken",
  "quota.80",
  "quota.100",
] as const;
export type AlertType = (typeof ALERT_TYPES)[number];

/** Something that an account's people should know of, raised once for each episode (docs/decisions/0043-alerts.md). */
export interface Alert {
  /** Derived from the episode, so that any number of processes raise it once. It is also the emit id of its event. */
  _id: string;
  /** The account that it is about, which emits it. */
  owner_id: string;
  type: AlertType;
  /** What it is about, such as a webhook; null for the account itself. */
  subject: { id: string; name: string | null } | null;
  /** One line for people. */
  message: string;
  details: Record<string, string | number | null>;
  /** Unix milliseconds. */
  at_ms: number;
  /** When it was raised, until it is an event and noted for the mails of its account's people; absent afterwards. */
  pending_since?: Date;
  expires_at: Date;
}

export const Alerts = collection<Alert>(
  "alerts",
  new Schema<Alert>(
    {
      _id: { type: String, required: true },
      owner_id: { type: String, required: true },
      type: { type: String, required: true },
      subject: { type: Schema.Types.Mixed, default: null },
      message: { type: String, required: true },
      details: { type: Schema.Types.Mixed, required: true },
      at_ms: { type: Number, required: true },
      pending_since: { type: Date, default: undefined },
      expires_at: { type: Date, required: true },
    },
    schemaOptions,
  )
    .index({ expires_at: 1 }, { expireAfterSeconds: 0 })
    // Counted before another one is raised.
    .index({ owner_id: 1, at_ms: 1 })
    .index(
      { pending_since: 1, _id: 1 },
      { name: "pending", partialFilterExpression: { pending_since: { $exists: true } } },
    ),
);
