import { createHash } from "node:crypto";
import type { SendMailOptions } from "nodemailer";
import type { Alert, MailedAlert } from "../../models/alert.ts";
import type { Emission } from "../../queues/emissions.ts";
import { ALERTS, lineOf } from "../raise.ts";

/** What a mail is made of. */
export interface MailContents {
  to: string;
  from: string;
  alerts: MailedAlert[];
  /** How many more there were. */
  leftOut: number;
  publicUrl: string;
  /** Turns these mails off. */
  offUrl: string;
}

const SUBJECT_CHARS = 120;

const escaped = (text: string): string =>
  text.replace(/[&<>"']/g, character => `&#${character.codePointAt(0)};`);

const timeOf = (ms: number): string => `${new Date(ms).toISOString().slice(0, 16).replace("T", " ")} UTC`;

const PAGES: Record<string, string> = { wh: "webhooks", dc: "sources", ms: "agents" };

/** The dashboard's page about what an alert is about. */
function linkOf(publicUrl: string, { owner_id, subject }: MailedAlert): string {
  const page = PAGES[subject?.id.split("_")[0] ?? ""];
  const org = owner_id.startsWith("o_") ? `?org=${owner_id}` : "";
  return `${publicUrl}/dashboard${page && subject ? `/${page}/${subject.id}` : "/alerts"}${org}`;
}

function subjectOf([first, ...others]: MailedAlert[], leftOut: number): string {
  const more = others.length + leftOut;
  const about = lineOf(first?.message ?? "alerts", SUBJECT_CHARS);
  return more === 0 ? `Headwater: ${about}` : `Headwater: ${more + 1} alerts, first: ${about}`;
}

/** The same for the same alerts: a mail that is sent again after a crash is known to its receiver's mail program. */
const messageIdOf = ({ to, from, alerts }: MailContents): string => {
  const hash = createHash("sha256")
    .update([to, ...alerts.map(({ _id }) => _id)].join("\n"))
    .digest("hex");
  return `<${hash.slice(0, 32)}@${/@([^>\s]+)>?$/.exec(from)?.[1] ?? "headwater"}>`;
};

/** Returns a mail about alerts, as text and as HTML: neither has anything but their messages, times and links. */
export function composeMail(contents: MailContents): SendMailOptions {
  const { to, from, alerts, leftOut, publicUrl, offUrl } = contents;
  const rows = alerts.map(alert => ({
    time: timeOf(alert.at_ms),
    account: alert.owner_id,
    message: alert.message,
    link: linkOf(publicUrl, alert),
  }));
  const more = leftOut > 0 ? `${leftOut} more are not listed here.` : "";
  const text = [
    ...rows.map(({ time, account, message, link }) => `${time}  ${account}\n${message}\n${link}\n`),
    ...(more ? [`${more}\n`] : []),
    "--",
    `From ${publicUrl}, about alerts of your accounts. Turn these mails off:\n${offUrl}`,
    "",
  ].join("\n");
  const items = rows.map(
    ({ time, account, message, link }) =>
      `<p><small>${time} · ${escaped(account)}</small><br>${escaped(message)}<br><a href="${escaped(link)}">Show</a></p>`,
  );
  const footer = `<hr><p><small>From <a href="${escaped(publicUrl)}">${escaped(publicUrl)}</a>, about alerts of your accounts. <a href="${escaped(offUrl)}">Turn these mails off</a></small></p>`;
  return {
    // As an object, so that nothing in an address is read as a list of addresses.
    to: { name: "", address: to },
    from,
    subject: subjectOf(alerts, leftOut),
    messageId: messageIdOf(contents),
    text,
    html: `<!doctype html><html><body>${items.join("")}${more ? `<p>${more}</p>` : ""}${footer}</body></html>`,
    headers: {
      "List-Unsubscribe": `<${offUrl}>`,
      "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
      "Auto-Submitted": "auto-generated",
    },
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

/** Returns the emission of an alert, whose event listeners receive (docs/alerts.md). */
export const emissionOf = ({ _id, owner_id, type, subject, message, details, at_ms }: Alert): Emission => ({
  emitter_id: owner_id,
  emit_id: _id,
  name: ALERTS,
  event: { id: _id, type, account_id: owner_id, subject, message, details, at_ms },
  summary: message,
  ts: at_ms,
});
