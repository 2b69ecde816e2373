import { Schema } from "mongoose";
import { collection, schemaOptions } from "../store/mongo.ts";
import type { Alert } from "./alert.ts";

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
