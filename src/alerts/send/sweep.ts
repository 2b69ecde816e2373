import { emitAll, UNCERTAIN } from "../../events/emit.ts";
import { LIMITS } from "../../limits/catalogue.ts";
import { type Alert, Alerts, Mailboxes, type MailedAlert } from "../../models/alert.ts";
import { Memberships } from "../../models/organization.ts";
import { type User, Users } from "../../models/user.ts";
import type { Platform, Stores } from "../../platform.ts";
import { isDuplicateKey } from "../../store/connections/mongo.ts";
import { repairAll } from "../../store/sweeps/repair-each.ts";
import type { SweepBatch } from "../../store/sweeps/sweep-turns.ts";
import { emissionOf } from "./compose.ts";

/** Alerts handled together. */
const BATCH = 100;

/**
 * Makes events of the alerts that were raised, in their order, and notes them for the mails of their accounts' people. Each is
 * both before it is no longer pending; repeated after a crash, it is the same event, and at most once in a mail that is not
 * sent yet.
 */
export function beginAlertSweep(platform: Platform): SweepBatch {
  const startedAt = new Date(platform.clock());
  return async cursor => {
    const pending = await Alerts(platform.mongo)
      .find({ pending_since: { $lte: startedAt }, ...(cursor !== null && after(cursor)) })
      .sort({ pending_since: 1, _id: 1 })
      .limit(BATCH)
      .lean();
    await repairAll(platform, pending, {
      step: "alerts",
      idOf: ({ _id }) => _id,
      repair: alerts => handle(platform, alerts),
    });
    const last = pending.at(-1);
    // Nothing was wrong.
    return { repaired: 0, next: last && pending.length === BATCH ? cursorOf(last) : null };
  };
}

const cursorOf = ({ _id, pending_since }: Alert): string => `${pending_since?.getTime()} ${_id}`;

function after(cursor: string) {
  const [ms, id = ""] = cursor.split(" ");
  const since = new Date(Number(ms));
  return { $or: [{ pending_since: { $gt: since } }, { pending_since: since, _id: { $gt: id } }] };
}

/** Returns how many are no longer pending; one whose account can't be read yet comes again. */
async function handle(platform: Platform, alerts: Alert[]): Promise<number> {
  const outcomes = await emitAll(platform, alerts.map(emissionOf));
  const done = alerts.filter((_, i) => outcomes[i] !== UNCERTAIN);
  if (platform.config.mail) for (const alert of done) await noteForMail(platform, alert);
  await Alerts(platform.mongo).updateMany(
    { _id: { $in: done.map(({ _id }) => _id) } },
    { $unset: { pending_since: 1 } },
  );
  return done.length;
}

/** The first alert after a while waits this long for company. */
const SOON_MS = 60_000;
/** Between two mails to a person who gets digests. */
export const DIGEST_MS = 3_600_000;

/**
 * Notes an alert for the next mail to each person of its account who wants mails: the user, or every member of the
 * organization. One that is noted already is not noted again.
 */
async function noteForMail(platform: Stores, alert: Alert): Promise<void> {
  const { _id, owner_id, type, subject, message, at_ms } = alert;
  for (const user of await recipientsOf(platform, owner_id)) {
    await note(platform, user, { _id, owner_id, type, subject, message, at_ms });
  }
}

async function recipientsOf({ mongo }: Stores, ownerId: string): Promise<Pick<User, "_id" | "alert_mail">[]> {
  const members = ownerId.startsWith("o_")
    ? await Memberships(mongo)
        .find({ org_id: ownerId }, { user_id: 1 })
        .sort({ _id: 1 })
        .limit(LIMITS.members.value)
        .lean()
    : [{ user_id: ownerId }];
  return await Users(mongo)
    .find(
      { _id: { $in: members.map(({ user_id }) => user_id) }, alert_mail: { $ne: "off" } },
      { alert_mail: 1 },
    )
    .lean();
}

async function note(
  { mongo, clock }: Stores,
  { _id, alert_mail }: Pick<User, "_id" | "alert_mail">,
  alert: MailedAlert,
): Promise<void> {
  await Mailboxes(mongo)
    .updateOne(
      { _id, "alerts._id": { $ne: alert._id } },
      {
        $push: { alerts: { $each: [alert], $slice: LIMITS.alertsPerMail.value } },
        $inc: { total: 1 },
        $setOnInsert: { claimed_until: null, sent_at: null, sent_that_day: 0, failures: 0 },
      },
      { upsert: true },
    )
    .catch((error: unknown) => {
      // It exists, and has the alert.
      if (!isDuplicateKey(error)) throw error;
    });
  const now = clock();
  const soon = new Date(alert_mail === "each" ? now : now + SOON_MS);
  const afterLast = alert_mail === "each" ? soon : { $add: ["$sent_at", DIGEST_MS] };
  await Mailboxes(mongo).updateOne(
    { _id, "alerts._id": alert._id },
    // What is due already stays due: after a failure, that is later on purpose.
    [{ $set: { due_at: { $ifNull: ["$due_at", { $max: [soon, afterLast] }] } } }],
    { updatePipeline: true },
  );
}
