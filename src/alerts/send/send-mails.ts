import { canAccess } from "../../accounts/access.ts";
import { settlesWithin } from "../../lib/time.ts";
import { LIMITS } from "../../limits/catalogue.ts";
import { type Mailbox, Mailboxes } from "../../models/alert.ts";
import { type User, Users } from "../../models/user.ts";
import type { Observed, Platform, Stores } from "../../platform.ts";
import { composeMail } from "./compose.ts";
import { MAIL_OFF_PATH, type Mailer, mailToken, openMailer } from "./mailer.ts";
import { DIGEST_MS } from "./sweep.ts";

/** Longer than a server may take for a mail: a process that claimed a mailbox and is silent for so long has died. */
const CLAIMED_MS = 5 * 60_000;
const FIRST_RETRY_MS = 30_000;
const LONGEST_RETRY_MS = 3_600_000;
/** About a day: then what is to be mailed is dropped, and shown in the dashboard only. */
const MAX_FAILURES = 30;
const DAY_MS = 86_400_000;
/** Mails in one turn. */
const MAILS_AT_ONCE = 100;

/**
 * Sends the mails that are due, one after another, until none is, or `mustEnd`. Any number of processes may: each claims the
 * mailbox of a user first. A mail is sent again if its process dies between the server's acceptance and the note of it.
 */
export async function sendDueMails(
  platform: Stores & Observed,
  mailer: Mailer,
  mustEnd: () => boolean,
): Promise<number> {
  let sent = 0;
  for (let i = 0; i < MAILS_AT_ONCE && !mustEnd(); i++) {
    const claimed = await claim(platform);
    if (!claimed) break;
    if (await sendOne(platform, mailer, claimed)) sent += 1;
  }
  return sent;
}

type Claimed = Mailbox & { claimed_until: Date };

async function claim({ mongo, clock }: Stores & Observed): Promise<Claimed | null> {
  const now = new Date(clock());
  return await Mailboxes(mongo)
    .findOneAndUpdate(
      { due_at: { $lte: now }, $or: [{ claimed_until: null }, { claimed_until: { $lte: now } }] },
      { $set: { claimed_until: new Date(now.getTime() + CLAIMED_MS) } },
      { sort: { due_at: 1 }, returnDocument: "after" },
    )
    .lean<Claimed | null>();
}

/** Returns true if a mail was sent. */
async function sendOne(platform: Stores & Observed, mailer: Mailer, mailbox: Claimed): Promise<boolean> {
  const { mongo, config, metrics, log } = platform;
  const user = await Users(mongo).findById(mailbox._id).lean();
  const mail = user?.alert_mail ?? "digest";
  const visible = user && mail !== "off" ? await visibleAlerts(platform, user, mailbox) : [];
  if (!user || visible.length === 0) {
    await finish(platform, mailbox, { handled: mailbox.alerts, next: null });
    return false;
  }
  const today = sentToday(platform, mailbox);
  if (today >= LIMITS.mailsPerDay.value) {
    const now = platform.clock();
    await release(platform, mailbox, { due_at: new Date(now - (now % DAY_MS) + DAY_MS) });
    return false;
  }
  const alerts = mail === "each" ? visible.slice(0, 1) : visible;
  const leftOut = mail === "each" ? 0 : mailbox.total - mailbox.alerts.length;
  const { publicUrl, secretsKeys } = config;
  const contents = {
    to: user.email,
    from: config.mail?.from ?? "",
    alerts,
    leftOut,
    publicUrl,
    offUrl: `${publicUrl}${MAIL_OFF_PATH}?token=${mailToken(secretsKeys, user._id)}`,
  };
  try {
    await mailer.send(composeMail(contents));
  } catch (error) {
    await noteFailure(platform, mailbox, error);
    return false;
  }
  metrics.count("alert_mails_total", { outcome: "sent" });
  log.info({ user_id: user._id, alerts: alerts.length }, "mail about alerts sent");
  const hidden = mailbox.alerts.filter(one => !visible.includes(one));
  await finish(platform, mailbox, {
    handled: [...alerts, ...hidden],
    next: mail === "each" ? 0 : DIGEST_MS,
    sentToday: today + 1,
  });
  return true;
}

/** Without those of organizations that the user has left since. */
async function visibleAlerts(
  platform: Stores & Observed,
  { _id }: User,
  { alerts }: Mailbox,
): Promise<Mailbox["alerts"]> {
  const accounts = [...new Set(alerts.map(({ owner_id }) => owner_id))];
  const access = await Promise.all(accounts.map(account => canAccess(platform, _id, account)));
  return alerts.filter(({ owner_id }) => access[accounts.indexOf(owner_id)]);
}

function sentToday({ clock }: Stores & Observed, { sent_at, sent_that_day }: Mailbox): number {
  const isToday = sent_at !== null && Math.floor(sent_at.getTime() / DAY_MS) === Math.floor(clock() / DAY_MS);
  return isToday ? sent_that_day : 0;
}

async function release(
  { mongo }: Stores & Observed,
  { _id, claimed_until }: Claimed,
  set: Partial<Mailbox>,
): Promise<void> {
  await Mailboxes(mongo).updateOne({ _id, claimed_until }, { $set: { claimed_until: null, ...set } });
}

async function noteFailure(platform: Stores & Observed, mailbox: Claimed, error: unknown): Promise<void> {
  const { metrics, log, clock } = platform;
  const failures = mailbox.failures + 1;
  const isGivenUp = failures > MAX_FAILURES;
  metrics.count("alert_mails_total", { outcome: isGivenUp ? "given_up" : "failed" });
  // Not the error itself, which has the mail's envelope.
  const { code, responseCode } = error as { code?: string; responseCode?: number };
  const fields = { user_id: mailbox._id, failures, code: code ?? "unknown", smtp: responseCode ?? null };
  if (isGivenUp) {
    log.error(fields, "mail about alerts given up");
    return await finish(platform, mailbox, { handled: mailbox.alerts, next: null });
  }
  log.warn(fields, "mail about alerts can't be sent yet");
  const waitMs = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** (failures - 1));
  await release(platform, mailbox, { failures, due_at: new Date(clock() + waitMs) });
}

interface Finished {
  /** Those that need not be mailed any more. */
  handled: Mailbox["alerts"];
  /** After how many milliseconds those that came since may be mailed; null: no mail was sent. */
  next: number | null;
  sentToday?: number;
}

/** Removes alerts from a mailbox, and plans the next mail if some have come since. */
async function finish(
  { mongo, clock }: Stores & Observed,
  mailbox: Claimed,
  { handled, next, sentToday }: Finished,
): Promise<void> {
  const { _id, claimed_until, alerts, total } = mailbox;
  const now = clock();
  const ids = handled.map(one => one._id);
  const isAll = handled.length === alerts.length;
  await Mailboxes(mongo).updateOne(
    { _id, claimed_until },
    [
      {
        $set: {
          alerts: { $filter: { input: "$alerts", cond: { $not: [{ $in: ["$$this._id", ids] }] } } },
          // With the last of them, those that were left out are handled, too.
          total: { $subtract: ["$total", isAll ? total : handled.length] },
          claimed_until: null,
          failures: 0,
          ...(next !== null && { sent_at: new Date(now), sent_that_day: sentToday ?? 1 }),
        },
      },
      {
        $set: {
          due_at: { $cond: [{ $eq: ["$alerts", []] }, "$$REMOVE", new Date(now + (next ?? 0))] },
        },
      },
    ],
    { updatePipeline: true },
  );
}

/** How often mails that are due are looked for: one query by an index, of an installation that sends mail. */
const LOOK_MS = 10_000;
/** How long a mail under way may take when its process stops; else another process sends it, again. */
const STOP_MS = 2000;

/** Starts to send the mails that are due, if there is a server to send them by; returns the function that stops it. */
export function startMailing(platform: Platform): () => Promise<void> {
  const { mail, sweepEveryMs } = platform.config;
  if (!mail) return async () => undefined;
  let isStopped = false;
  let mailer: Promise<Mailer> | undefined;
  let turn: Promise<unknown> | undefined;
  const look = async () => {
    mailer ??= openMailer(mail.server);
    await sendDueMails(platform, await mailer, () => isStopped);
  };
  const timer = setInterval(
    () => {
      // A turn that waits for a slow server is not joined by another one.
      turn ??= look()
        .catch((error: unknown) => {
          if (!isStopped) platform.log.warn({ err: error }, "mails about alerts wait for a store");
        })
        .finally(() => {
          turn = undefined;
        });
    },
    Math.min(LOOK_MS, sweepEveryMs),
  );
  return async () => {
    isStopped = true;
    clearInterval(timer);
    await settlesWithin(Promise.resolve(turn), STOP_MS);
    (await mailer?.catch(() => undefined))?.close();
  };
}
