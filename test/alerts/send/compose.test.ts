import { expect } from "chai";
import { composeMail } from "../../../src/alerts/send/compose.ts";
import { mailToken, userOfMailToken } from "../../../src/alerts/send/mailer.ts";
import type { MailedAlert } from "../../../src/models/alert.ts";

const USER = "u_0CjB8sXp1LmN4vYb";
const alert = (message: string, more: Partial<MailedAlert> = {}): MailedAlert => ({
  _id: "al_0CjBBt8Xw3QvW4bL",
  owner_id: USER,
  type: "webhook.failing",
  subject: { id: "wh_0CjBAEdF3kWq9RtZ", name: "orders" },
  message,
  at_ms: Date.UTC(2026, 10, 2, 3, 4, 5),
  ...more,
});
const compose = (alerts: MailedAlert[], leftOut = 0) =>
  composeMail({
    to: "anna@example.com",
    from: "Headwater <alerts@example.com>",
    alerts,
    leftOut,
    publicUrl: "https://hooks.example.com",
    offUrl: "https://hooks.example.com/alerts/mail-off?token=t",
  });

describe("a mail about alerts", () => {
  it("has the time, the message and a link of each, as text and as HTML", () => {
    const mail = compose([alert("one"), alert("two", { owner_id: "o_0CjB8tYr3KpL7xVd", subject: null })]);
    expect(mail.subject).to.equal("Headwater: 2 alerts, first: one");
    for (const body of [mail.text, mail.html]) {
      expect(body).to.contain("2026-11-02 03:04 UTC");
      expect(body).to.contain("two");
      expect(body).to.contain("mail-off");
    }
    expect(mail.text).to.contain("https://hooks.example.com/dashboard/webhooks/wh_0CjBAEdF3kWq9RtZ");
    expect(mail.text).to.contain("https://hooks.example.com/dashboard/alerts?org=o_0CjB8tYr3KpL7xVd");
  });

  it("has no markup of a name's", () => {
    const { html } = compose([alert(`webhook "<img src=x onerror=alert(1)>" & 'more'`)]);
    expect(html).not.to.contain("<img");
    expect(html).to.contain("&#60;img");
  });

  it("says how many alerts it leaves out", () => {
    expect(compose([alert("one")], 7).text).to.contain("7 more are not listed here.");
  });

  it("can be turned off with one click, and is known when it comes again", () => {
    const mail = compose([alert("one")]);
    expect(mail.headers).to.deep.include({
      "List-Unsubscribe": "<https://hooks.example.com/alerts/mail-off?token=t>",
      "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
    });
    expect(mail.messageId).to.match(/^<[0-9a-f]{32}@example\.com>$/);
    expect(compose([alert("one")]).messageId).to.equal(mail.messageId);
    expect(compose([alert("one", { _id: "al_2" })]).messageId).not.to.equal(mail.messageId);
  });
});

describe("the token that turns mails off", () => {
  const [key, old] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];

  it("names its user to who has the key, also after a rotation", () => {
    expect(userOfMailToken([key], mailToken([key], USER))).to.equal(USER);
    expect(userOfMailToken([key, old], mailToken([old], USER))).to.equal(USER);
  });

  it("is not accepted for another user, from another key, or changed", () => {
    const token = mailToken([key], USER);
    expect(userOfMailToken([old], token)).to.equal(null);
    expect(userOfMailToken([key], token.replace(USER, "u_0CjB8sXp1LmN4vYc"))).to.equal(null);
    for (const bad of ["", ".", USER, `${USER}.`, `${token}.`, `${token}x`, token.slice(0, -1)]) {
      expect(userOfMailToken([key], bad), bad).to.equal(null);
    }
  });
});
