import { Schema } from "mongoose";
import { collection, schemaOptions } from "../store/connections/mongo.ts";

/** What an alert can say; a listener's filter selects by it (docs/alerts.md). */
export const ALERT_TYPES = [
  "webhook.failing",
  "webhook.will_be_disabled",
  "webhook.disabled",
  "webhook.recovered",
  "delivery.failed",
  "source.failing",
  "source.recovered",
  "source.rejecting",
  "destination.lagging",
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

/** An alert that is to be mailed. */
export type MailedAlert = Pick<Alert, "_id" | "owner_id" | "type" | "subject" | "message" | "at_ms">;

/** What is to be mailed to a user, and when the last mail was sent. */
export interface Mailbox {
  /** The user's id. */
  _id: string;
  /** At most `LIMITS.alertsPerMail`, oldest first. */
  alerts: MailedAlert[];
  /** How many there were, with those that are left out. */
  total: number;
  /** When to send the next mail; absent if there is nothing to send. */
  due_at?: Date;
  /** While a process sends it: when another one may, because that one must have died. */
  claimed_until: Date | null;
  /** Of the last mail. */
  sent_at: Date | null;
  /** Mails sent on the day (UTC) of the last one. */
  sent_that_day: number;
  /** Attempts that failed since. */
  failures: number;
}

export const Mailboxes = collection<Mailbox>(
  "mailboxes",
  new Schema<Mailbox>(
    {
      _id: { type: String, required: true },
      alerts: { type: [Schema.Types.Mixed] as never, required: true },
      total: { type: Number, required: true },
      due_at: { type: Date, default: undefined },
      claimed_until: { type: Date, default: null },
      sent_at: { type: Date, default: null },
      sent_that_day: { type: Number, required: true },
      failures: { type: Number, required: true },
    },
    schemaOptions,
  ).index({ due_at: 1 }, { sparse: true }),
);
