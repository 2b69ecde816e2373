import { notFound } from "../../lib/errors.ts";
import { type AlertMail, Users } from "../../models/user.ts";
import type { Platform } from "../../platform.ts";

/** How a user is told of alerts. */
export interface AlertSettings {
  mail: AlertMail;
  email: string;
  /** False if this server sends no mail. */
  is_mail_sent: boolean;
}

type Deps = Pick<Platform, "mongo" | "config">;

/** Returns how a user is told of alerts. Throws `not-found`. */
export async function readAlertSettings({ mongo, config }: Deps, userId: string): Promise<AlertSettings> {
  const user = await Users(mongo).findById(userId, { email: 1, alert_mail: 1 }).lean();
  if (!user) throw notFound("user");
  return { mail: user.alert_mail ?? "digest", email: user.email, is_mail_sent: config.mail !== undefined };
}

/** Changes how a user is told of alerts, from the next mail on. Throws `not-found`. */
export async function setAlertMail(
  { mongo }: Pick<Platform, "mongo">,
  userId: string,
  mail: AlertMail,
): Promise<void> {
  const { matchedCount } = await Users(mongo).updateOne({ _id: userId }, { $set: { alert_mail: mail } });
  if (matchedCount === 0) throw notFound("user");
}
