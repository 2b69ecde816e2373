import { LIMITS } from "../../limits/catalogue.ts";
import type { Alert } from "../../models/alert.ts";
import { Mailboxes, type MailedAlert } from "../../models/mailbox.ts";
import { Memberships } from "../../models/organization.ts";
import { type User, Users } from "../../models/user.ts";
import type { Platform } from "../../platform.ts";
import { isDuplicateKey } from "../../store/mongo.ts";

type Deps = Pick<Platform, "mongo" | "clock">;

/** The first alert after a while waits this long for company. */
const SOON_MS = 60_000;
/** Between two mails to a person who gets digests. */
export const DIGEST_MS = 3_600_000;

/**
 * Notes an alert for the next mail to each person of its account who wants mails: the user, or every member of the
 * organization. One that is noted already is not noted again.
 */
export async function noteForMail(platform: Deps, alert: Alert): Promise<void> {
  const { _id, owner_id, type, subject, message, at_ms } = alert;
  for (const user of await recipientsOf(platform, owner_id)) {
    await note(platform, user, { _id, owner_id, type, subject, message, at_ms });
  }
}

async function recipientsOf({ mongo }: Deps, ownerId: string): Promise<Pick<User, "_id" | "alert_mail">[]> {
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
  { mongo, clock }: Deps,
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
