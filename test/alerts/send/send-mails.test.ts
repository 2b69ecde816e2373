import { expect } from "chai";
import { addMember, createOrganization } from "../../../src/accounts/organizations.ts";
import { createUser } from "../../../src/accounts/users.ts";
import { raiseAlert } from "../../../src/alerts/raise.ts";
import { type Mailer, openMailer, setAlertMail } from "../../../src/alerts/send/mailer.ts";
import { sendDueMails } from "../../../src/alerts/send/send-mails.ts";
import { LIMITS } from "../../../src/limits/catalogue.ts";
import { Mailboxes } from "../../../src/models/alert.ts";
import { Memberships } from "../../../src/models/organization.ts";
import type { AlertMail } from "../../../src/models/user.ts";
import { TEST_TLS } from "../../egress/test-tls.ts";
import { openTestPlatform, type TestPlatform } from "../../support/platform.ts";
import {
  bodyOf,
  headerOf,
  SMTP_PASSWORD,
  SMTP_USER,
  type SmtpReceiver,
  startSmtpReceiver,
} from "../../support/smtp-receiver.ts";
import { sweep } from "../../support/sweep.ts";

const START = Date.UTC(2026, 10, 2, 3, 4, 5);
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const urlOf = (port: number) => `smtp://${SMTP_USER}:${encodeURIComponent(SMTP_PASSWORD)}@localhost:${port}`;

describe("mails about alerts", () => {
  let platform: TestPlatform;
  let receiver: SmtpReceiver;
  let mailer: Mailer;
  let now = START;
  let made = 0;
  let user: { id: string; email: string };

  before(async () => {
    receiver = await startSmtpReceiver();
    platform = await openTestPlatform(
      {
        SMTP_URL: `${urlOf(receiver.port)}?from=Headwater <alerts@example.com>`,
        PUBLIC_URL: "https://hw.example",
      },
      { clock: () => now },
    );
    const server = platform.config.mail?.server;
    if (!server) throw new Error("no mail server");
    mailer = await openMailer(server, { ca: TEST_TLS.cert });
  });
  after(async () => {
    mailer.close();
    await platform.destroy();
    await receiver.close();
  });
  beforeEach(async () => {
    now = START + ++made * 7 * 24 * HOUR;
    receiver.isOpen = true;
    user = await newUser();
  });

  async function newUser(mail?: AlertMail): Promise<{ id: string; email: string }> {
    const email = `mail${++made}@example.test`;
    const { id } = await createUser(platform, { email });
    if (mail) await setAlertMail(platform, id, mail);
    return { id, email };
  }
  let episodes = 0;
  const raise = async (message: string, ownerId = user.id) => {
    await raiseOnly(message, ownerId);
    await sweep(platform, "alerts");
  };
  const raiseOnly = async (message: string, ownerId = user.id) => {
    episodes += 1;
    await raiseAlert(platform, {
      ownerId,
      type: "webhook.failing",
      subject: null,
      sinceMs: now + episodes,
      message,
    });
  };
  const send = () => sendDueMails(platform, mailer, () => false);
  const mailsTo = ({ email }: { email: string }) => receiver.mails.filter(({ to }) => to.includes(email));

  it("come a minute after the first alert, and then once an hour with all that came since", async () => {
    await raise("first");
    await raise("second");
    await send();
    expect(mailsTo(user)).to.be.empty;
    now += MINUTE;
    await send();
    await raise("third");
    await raise("fourth");
    now += HOUR - 1;
    await send();
    const [one, ...more] = mailsTo(user);
    expect(more).to.be.empty;
    expect(bodyOf(one as never))
      .to.contain("first")
      .and.to.contain("second")
      .and.not.to.contain("third");
    now += 1;
    await send();
    await send();
    expect(mailsTo(user)).to.have.length(2);
    expect(bodyOf(mailsTo(user)[1] as never))
      .to.contain("third")
      .and.to.contain("fourth")
      .and.not.to.contain("first");
  });

  it("are handed over encrypted and with the password, with sender and a link that turns them off", async () => {
    await raise("first");
    now += MINUTE;
    await send();
    const [mail] = mailsTo(user);
    if (!mail) throw new Error("no mail");
    expect(mail).to.deep.include({ from: "alerts@example.com", wasEncrypted: true, user: SMTP_USER });
    expect(headerOf(mail, "subject")).to.equal("Headwater: first");
    expect(headerOf(mail, "list-unsubscribe")).to.match(
      /^<https:\/\/hw\.example\/alerts\/mail-off\?token=u_\S+>$/,
    );
    expect(headerOf(mail, "list-unsubscribe-post")).to.equal("List-Unsubscribe=One-Click");
  });

  it("are not handed over to a server whose certificate is not trusted", async () => {
    const server = platform.config.mail?.server;
    if (!server) throw new Error("no mail server");
    const distrustful = await openMailer(server);
    await raise("first");
    now += MINUTE;
    await sendDueMails(platform, distrustful, () => false);
    distrustful.close();
    expect(mailsTo(user)).to.be.empty;
    now += MINUTE;
    await send();
    expect(mailsTo(user)).to.have.length(1);
  });

  it("come one by one to those who want each", async () => {
    user = await newUser("each");
    await raise("first");
    await raise("second");
    await send();
    expect(mailsTo(user).map(mail => headerOf(mail, "subject"))).to.deep.equal([
      "Headwater: first",
      "Headwater: second",
    ]);
  });

  it("wait while the mail server is down, and are sent once when it is back", async () => {
    await raise("first");
    now += MINUTE;
    receiver.isOpen = false;
    await send();
    await send();
    expect(await Mailboxes(platform.mongo).findById(user.id).lean()).to.include({ failures: 1 });
    await raise("second");
    receiver.isOpen = true;
    await send();
    expect(mailsTo(user)).to.be.empty;
    now += MINUTE;
    await send();
    await send();
    expect(mailsTo(user)).to.have.length(1);
    expect(bodyOf(mailsTo(user)[0] as never))
      .to.contain("first")
      .and.to.contain("second");
    expect(await Mailboxes(platform.mongo).findById(user.id).lean()).to.deep.include({
      failures: 0,
      alerts: [],
      total: 0,
    });
  });

  it("are sent once by two processes that look at the same moment", async () => {
    await raise("first");
    now += MINUTE;
    await Promise.all([send(), send(), send()]);
    expect(mailsTo(user)).to.have.length(1);
  });

  it("are sent by another process if the one that claimed them has died", async () => {
    await raise("first");
    now += MINUTE;
    await Mailboxes(platform.mongo).updateOne(
      { _id: user.id },
      { $set: { claimed_until: new Date(now + 5 * MINUTE) } },
    );
    await send();
    expect(mailsTo(user)).to.be.empty;
    now += 5 * MINUTE;
    await send();
    expect(mailsTo(user)).to.have.length(1);
  });

  it("do not come to those who turned them off, even just before", async () => {
    const off = await newUser("off");
    await raise("first", off.id);
    await raise("first");
    await setAlertMail(platform, user.id, "off");
    now += HOUR;
    await send();
    expect([...mailsTo(off), ...mailsTo(user)]).to.be.empty;
    await setAlertMail(platform, user.id, "digest");
    now += HOUR;
    await send();
    expect(mailsTo(user)).to.be.empty;
  });

  it("come to every member of an organization, but not to one who has left it since", async () => {
    const [member, left, stranger] = [await newUser(), await newUser(), await newUser()];
    const { id } = await createOrganization(platform, { name: "Org", ownerId: user.id });
    for (const one of [member, left]) await addMember(platform, id, one.id);
    await raise("of the organization", id);
    await Memberships(platform.mongo).deleteOne({ _id: `${id}-${left.id}` });
    now += MINUTE;
    await send();
    expect([user, member, left, stranger].map(one => mailsTo(one).length)).to.deep.equal([1, 1, 0, 0]);
  });

  it("have no header of a name's", async () => {
    await raise('webhook "x\r\nBcc: eve@example.test\r\n\r\nboo" fails');
    now += MINUTE;
    await send();
    const [mail] = mailsTo(user);
    if (!mail) throw new Error("no mail");
    expect(headerOf(mail, "bcc")).to.equal(undefined);
    expect(mail.to).to.deep.equal([user.email]);
    expect(headerOf(mail, "subject")).to.contain("Bcc: eve@example.test boo");
  });

  it("list so many alerts at most, and say how many more there were", async () => {
    const most = LIMITS.alertsPerMail.value;
    for (let n = 0; n < most + 3; n++) {
      await raiseOnly(`alert ${n}.`);
      now += 1;
    }
    await sweep(platform, "alerts");
    now += MINUTE;
    await send();
    expect(mailsTo(user)).to.have.length(1);
    const body = bodyOf(mailsTo(user)[0] as never);
    expect(body)
      .to.contain(`alert ${most - 1}.`)
      .and.to.contain("3 more are not listed here.");
    expect(body).not.to.contain(`alert ${most}.`);
  });

  it("end after so many a day, and go on with the next", async () => {
    user = await newUser("each");
    const most = LIMITS.mailsPerDay.value;
    await raise("first");
    await send();
    await Mailboxes(platform.mongo).updateOne({ _id: user.id }, { $set: { sent_that_day: most } });
    await raise("second");
    await send();
    expect(mailsTo(user)).to.have.length(1);
    now += 24 * HOUR;
    await send();
    expect(mailsTo(user)).to.have.length(2);
  });
});
