import type { ClientSession } from "mongoose";
import { derivedId } from "../lib/ids.ts";
import { LIMITS } from "../limits/catalogue.ts";
import { type Alert, Alerts, type AlertType } from "../models/alert.ts";
import type { Observed, Stores } from "../platform.ts";
import { isDuplicateKey } from "../store/connections/mongo.ts";

/** An alert to be raised. */
export interface NewAlert {
  /** The account that owns the subject. */
  ownerId: string;
  type: AlertType;
  /** What it is about; null for the account itself. A name may be anybody's text. */
  subject: { id: string; name: string | null } | null;
  /** Distinguishes alerts of one type and subject, such as those of several quotas. */
  part?: string;
  /** When what it is about began, in Unix milliseconds: one alert of a type is raised for each beginning of a subject. */
  sinceMs: number;
  /** What happened, for people: without secrets, payloads or what an endpoint responded. */
  message: string;
  /** Facts for programs. */
  details?: Record<string, string | number | null>;
}

const DAY_MS = 86_400_000;
const MESSAGE_CHARS = 500;
const NAME_CHARS = 128;

/**
 * Raises an alert: it becomes an event of its account, and part of a mail to its people, within `SWEEP_EVERY`, whatever
 * process is killed (docs/decisions/0043-alerts.md). Returns false, and does nothing, if it was raised before, or if the
 * account has had as many today as it may. With a session it is raised together with what is written there, so that neither is
 * without the other. Throws `unavailable`.
 */
export async function raiseAlert(
  platform: Stores & Observed,
  { ownerId, type, subject, part = "", sinceMs, message, details = {} }: NewAlert,
  session?: ClientSession,
): Promise<boolean> {
  const { mongo, clock, metrics, log } = platform;
  const now = clock();
  const _id = derivedId("al", sinceMs, ownerId, type, subject?.id ?? "", part);
  const most = mostToday(type);
  const today = { owner_id: ownerId, at_ms: { $gte: now - (now % DAY_MS) } };
  const raised = await Alerts(mongo)
    .countDocuments(today)
    .limit(most)
    .session(session ?? null);
  if (raised >= most) {
    metrics.count("alerts_suppressed_total", { type });
    log.warn({ owner_id: ownerId, alert: type, subject_id: subject?.id }, "alert suppressed: too many today");
    return false;
  }
  const alert: Omit<Alert, "_id"> = {
    owner_id: ownerId,
    type,
    subject: subject && { id: subject.id, name: subject.name && lineOf(subject.name, NAME_CHARS) },
    message: lineOf(message, MESSAGE_CHARS),
    details,
    at_ms: now,
    pending_since: new Date(now),
    expires_at: new Date(now + LIMITS.alertKept.value),
  };
  const isNew = await Alerts(mongo)
    .updateOne({ _id }, { $setOnInsert: alert }, { upsert: true, ...(session && { session }) })
    .then(
      ({ upsertedCount }) => upsertedCount === 1,
      (error: unknown) => {
        // Another process did so at the same moment. In a transaction the error has ended that.
        if (session || !isDuplicateKey(error)) throw error;
        return false;
      },
    );
  if (isNew) metrics.count("alerts_raised_total", { type });
  return isNew;
}

/** How many an account may have had today for one of this type to be raised. */
const mostToday = (type: AlertType): number =>
  (type === "delivery.failed" ? LIMITS.deliveryAlertsPerDay : LIMITS.alertsPerDay).value;

/** The channel on which an account emits its alerts; no other emitter has it (docs/alerts.md). */
export const ALERTS = "$alerts";

/** Returns true for the id of an account, a user's or an organization's, which emits nothing but alerts. */
export const isAccountId = (id: string): boolean => /^[uo]_[0-9A-Za-z]{16}$/.test(id);

/** Control characters, line breaks, halves of surrogate pairs, and marks that turn the direction of a text. */
const NOT_TEXT = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu;

/**
 * Returns a text, which may be anybody's, as one line of at most `most` characters: nothing in it can begin another line of
 * a mail, or look like one.
 */
export function lineOf(text: string, most: number): string {
  const characters = [
    ...text
      .slice(0, 4 * most)
      .replace(NOT_TEXT, " ")
      .trim(),
  ];
  return characters.length <= most ? characters.join("") : `${characters.slice(0, most - 1).join("")}…`;
}
