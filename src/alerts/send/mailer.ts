import { createHmac, hkdfSync } from "node:crypto";
import type { ConnectionOptions } from "node:tls";
import type { SendMailOptions } from "nodemailer";
import { notFound } from "../../lib/errors.ts";
import { isId, isSameSecret } from "../../lib/ids.ts";
import type { SmtpServer } from "../../lib/smtp-url.ts";
import { type AlertMail, Users } from "../../models/user.ts";
import type { Stores } from "../../platform.ts";

/** Hands mail over to a server. */
export interface Mailer {
  /** Resolves once the server has accepted the mail for its receiver. Throws if it has not. */
  send(mail: SendMailOptions): Promise<void>;
  close(): void;
}

const CONNECT_MS = 10_000;
/** Without a byte from the server. Milliseconds. */
const SILENT_MS = 30_000;

/**
 * Opens what hands mail over to a server; it connects when there is a mail. `tls` has further authorities, for tests. The
 * library is loaded here: no process without mail needs it.
 */
export async function openMailer(server: SmtpServer, tls: ConnectionOptions = {}): Promise<Mailer> {
  const { createTransport } = await import("nodemailer");
  const { host, port, isTls, requiresTls, user, password } = server;
  const transport = createTransport({
    host,
    port,
    secure: isTls,
    requireTLS: requiresTls,
    ...(user !== undefined && { auth: { user, pass: password ?? "" } }),
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: SILENT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
    tls,
  });
  return {
    async send(mail) {
      await transport.sendMail(mail);
    },
    close: () => transport.close(),
  };
}

const keyOf = (secretsKey: Buffer) =>
  Buffer.from(hkdfSync("sha256", secretsKey, "", "headwater alert mails off", 32));

const sign = (secretsKey: Buffer, userId: string): string =>
  createHmac("sha256", keyOf(secretsKey)).update(userId).digest("base64url");

/**
 * Returns the token of the link with which a user turns mails about alerts off: it is good for nothing else, and it never
 * expires, because mails are kept. The first key of `SECRETS_KEY` signs, all verify.
 */
export const mailToken = (secretsKeys: readonly Buffer[], userId: string): string =>
  `${userId}.${sign(secretsKeys[0] as Buffer, userId)}`;

/** Returns the user of such a token; null for a text that is none. */
export function userOfMailToken(secretsKeys: readonly Buffer[], token: string): string | null {
  const [userId = "", signature = "", ...more] = token.slice(0, 256).split(".");
  if (!isId("u", userId) || more.length > 0) return null;
  return secretsKeys.some(key => isSameSecret(sign(key, userId), signature)) ? userId : null;
}

/** The address in mails that turns them off; not a route of the API. */
export const MAIL_OFF_PATH = "/alerts/mail-off";

/** How a user is told of alerts. */
export interface AlertSettings {
  mail: AlertMail;
  email: string;
  /** False if this server sends no mail. */
  is_mail_sent: boolean;
}

/** Returns how a user is told of alerts. Throws `not-found`. */
export async function readAlertSettings({ mongo, config }: Stores, userId: string): Promise<AlertSettings> {
  const user = await Users(mongo).findById(userId, { email: 1, alert_mail: 1 }).lean();
  if (!user) throw notFound("user");
  return { mail: user.alert_mail ?? "digest", email: user.email, is_mail_sent: config.mail !== undefined };
}

/** Changes how a user is told of alerts, from the next mail on. Throws `not-found`. */
export async function setAlertMail({ mongo }: Stores, userId: string, mail: AlertMail): Promise<void> {
  const { matchedCount } = await Users(mongo).updateOne({ _id: userId }, { $set: { alert_mail: mail } });
  if (matchedCount === 0) throw notFound("user");
}
