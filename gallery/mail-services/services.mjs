/**
 * How each service takes a mail `{from, to, cc, bcc, replyTo, subject, text, html}`: `request` returns what is sent to `base`, and `read`
 * the mail's id there. `id` is that of the delivery, the same for each attempt; Resend sends a mail with the same one once, the others show it in
 * what they say of a mail.
 */
export const SERVICES = {
  resend: {
    label: "Resend",
    base: () => "https://api.resend.com",
    request: ({ apiKey }, mail, id) => ({
      path: "/emails",
      headers: { authorization: `Bearer ${apiKey}`, "idempotency-key": id },
      json: {
        ...{ from: mail.from, to: mail.to, subject: mail.subject, text: mail.text, html: mail.html },
        ...{ cc: mail.cc, bcc: mail.bcc, reply_to: mail.replyTo },
      },
    }),
    read: ({ body }) => body.id,
  },
  postmark: {
    label: "Postmark",
    base: () => "https://api.postmarkapp.com",
    request: ({ apiKey, stream }, mail, id) => ({
      path: "/email",
      headers: { "x-postmark-server-token": apiKey, accept: "application/json" },
      json: {
        ...{
          From: mail.from,
          To: list(mail.to),
          Cc: list(mail.cc),
          Bcc: list(mail.bcc),
          ReplyTo: mail.replyTo,
        },
        ...{ Subject: mail.subject, TextBody: mail.text, HtmlBody: mail.html },
        ...{ MessageStream: stream, Metadata: { delivery: id } },
      },
    }),
    read: ({ body }) => body.MessageID,
  },
  sendgrid: {
    label: "SendGrid",
    base: ({ region }) => `https://api.${region === "eu" ? "eu." : ""}sendgrid.com`,
    request: ({ apiKey }, mail, id) => ({
      path: "/v3/mail/send",
      headers: { authorization: `Bearer ${apiKey}` },
      json: {
        personalizations: [{ to: people(mail.to), cc: people(mail.cc), bcc: people(mail.bcc) }],
        ...{ from: person(mail.from), reply_to: mail.replyTo && person(mail.replyTo), subject: mail.subject },
        content: [
          ...(mail.text ? [{ type: "text/plain", value: mail.text }] : []),
          ...(mail.html ? [{ type: "text/html", value: mail.html }] : []),
        ],
        custom_args: { delivery: id },
      },
    }),
    read: ({ headers }) => headers.get("x-message-id"),
  },
  mailgun: {
    label: "Mailgun",
    base: ({ region }) => `https://api.${region === "eu" ? "eu." : ""}mailgun.net`,
    request: ({ apiKey, domain }, mail, id) => {
      if (!domain) throw new Error("Domain: Mailgun needs the one from which it sends");
      return {
        path: `/v3/${encodeURIComponent(domain)}/messages`,
        headers: { authorization: `Basic ${Buffer.from(`api:${apiKey}`).toString("base64")}` },
        form: {
          ...{ from: mail.from, to: mail.to, cc: mail.cc, bcc: mail.bcc, "h:Reply-To": mail.replyTo },
          ...{ subject: mail.subject, text: mail.text, html: mail.html, "v:delivery": id },
        },
      };
    },
    read: ({ body }) => body.id,
  },
};

const list = addresses => addresses?.join(", ");

/** Ada <ada@example.com> */
function person(address) {
  const [, name, email] = /^\s*"?(.*?)"?\s*<([^<>]+)>\s*$/.exec(address) ?? [];
  return email ? { email: email.trim(), ...(name && { name }) } : { email: address.trim() };
}

const people = addresses => addresses?.map(person);
