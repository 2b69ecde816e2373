import { expect } from "chai";
import type { ImapFlow } from "imapflow";
import type { Sandboxes } from "../../src/sandbox/sandboxes.ts";
import { TEST_TLS } from "../egress/test-tls.ts";
import { openTestSandboxes } from "../examples/open-example.ts";
import { type Dovecot, startDovecot } from "../support/dovecot.ts";
import { openSource } from "./open-shipped.ts";

const KEY = "headwater-mail-message";

interface Mail {
  uid: number;
  subject: string;
}
const plain = (n: number | string, more = "") =>
  `From: Ada <ada@example.com>\r\nTo: orders@example.org\r\nSubject: Order ${n}\r\nMessage-ID: <${n}@example.com>\r\n${more}\r\nPlease send me ${n}.\r\n`;

describe("the gallery's mail", () => {
  let sandboxes: Sandboxes;
  let dovecot: Dovecot;
  let box: ImapFlow;
  let user: string;
  let count = 0;
  before(async function () {
    this.timeout(120_000);
    dovecot = await startDovecot(this);
    sandboxes = await openTestSandboxes();
  });
  beforeEach(async () => {
    count += 1;
    user = `ada${count}`;
    box = await dovecot.connect(user);
  });
  after(async () => {
    await sandboxes?.close();
    await dovecot?.close();
  });

  const configured = (given: object = {}) => ({
    ...{ host: "127.0.0.1", port: dovecot.port, user, password: "p4ss", ca: TEST_TLS.cert },
    ...given,
  });
  const open = (given: object = {}) => openSource(sandboxes, KEY, configured(given));
  const deployed = async (given: object = {}) => {
    const source = await open(given);
    expect((await source.call("deploy")).failed).to.equal(null);
    return source;
  };
  const append = (message: string | Buffer, at?: Date, path = "INBOX") =>
    box.append(path, Buffer.from(message), [], at);
  const subjects = (events: unknown[]) => (events as Mail[]).map(({ subject }) => subject);
  const orders = (from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, at) => `Order ${from + at}`);

  it("emits what arrives after it was deployed, the oldest first, each once, over many looks", async () => {
    await append(plain(1));
    const source = await deployed({ most: 12 });
    expect(await source.events()).to.deep.equal([]);
    for (let n = 2; n <= 31; n += 1) await append(plain(n));
    const looks: unknown[][] = [];
    for (let look = 0; look < 4; look += 1) looks.push(await source.events());
    expect(looks.map(({ length }) => length)).to.deep.equal([12, 12, 6, 0]);
    expect(subjects(looks.flat())).to.deep.equal(orders(2, 31));
  });

  it("begins with the newest messages that it is told to, leaves them unread, and starts with an empty mailbox too", async () => {
    const empty = await deployed({ backfill: 5 });
    const at = new Date(Date.UTC(2024, 4, 1, 8));
    for (const n of [1, 2, 3]) await append(plain(n), at);
    const source = await open({ backfill: 2 });
    const { emits } = await source.call("deploy");
    expect(subjects(emits.map(one => one.event))).to.deep.equal(["Order 2", "Order 3"]);
    const { uidValidity } = await box.mailboxOpen("INBOX");
    expect(emits[1]?.metadata).to.include({ id: `${uidValidity}:3`, summary: "Order 3", ts: at.getTime() });
    expect(await box.search({ seen: true })).to.deep.equal([]);
    expect(subjects(await empty.events())).to.deep.equal(orders(1, 3));
  });

  it("reads texts in their charset, and files by name or with their content, as far as they fit", async () => {
    const file = Buffer.from([0, 255, 1, 254]);
    const large = Buffer.alloc(300 * 1024, 7)
      .toString("base64")
      .replace(/.{76}/g, "$&\r\n");
    const message = Buffer.from(
      `From: =?iso-8859-1?Q?J=FCrgen?= <j@example.com>\r\nTo: a@example.org, B <b@example.org>\r\nSubject: =?utf-8?B?w5xiZXI=?=\r\n` +
        `Date: Wed, 1 May 2024 10:00:00 +0200\r\nMessage-ID: <m@x>\r\nIn-Reply-To: <l@x>\r\nContent-Type: multipart/mixed; boundary=M\r\n\r\n` +
        `--M\r\nContent-Type: multipart/alternative; boundary=A\r\n\r\n--A\r\nContent-Type: text/plain; charset=iso-8859-1\r\n\r\nGrüße\r\n` +
        `--A\r\nContent-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n${Buffer.from("<p>Grüße</p>").toString("base64")}\r\n--A--\r\n` +
        `--M\r\nContent-Type: application/pdf; name=a.pdf\r\nContent-Disposition: attachment; filename=a.pdf\r\nContent-Transfer-Encoding: base64\r\n\r\n${file.toString("base64")}\r\n` +
        `--M\r\nContent-Type: image/png\r\nContent-Disposition: attachment; filename=large.png\r\nContent-Transfer-Encoding: base64\r\n\r\n${large}\r\n--M--\r\n`,
      "latin1",
    );
    const names = await deployed();
    const contents = await deployed({ attachments: "content" });
    await append(message);
    const [event] = (await names.events()) as { attachments: Record<string, unknown>[] }[];
    expect(event).to.deep.include({
      ...{ mailbox: "INBOX", uid: 1, message_id: "<m@x>", in_reply_to: "<l@x>", subject: "Über" },
      ...{
        from: { name: "Jürgen", address: "j@example.com" },
        date: "2024-05-01T08:00:00.000Z",
        is_cut: false,
      },
      to: [
        { name: null, address: "a@example.org" },
        { name: "B", address: "b@example.org" },
      ],
      ...{ text: "Grüße", html: "<p>Grüße</p>" },
    });
    const [small, big] = event?.attachments ?? [];
    expect(small)
      .to.include({ name: "a.pdf", type: "application/pdf" })
      .and.not.have.property("content_base64");
    expect(big).to.include({ name: "large.png", type: "image/png" });
    const [full] = (await contents.events()) as { attachments: Record<string, unknown>[] }[];
    expect(full?.attachments[0]).to.deep.include({ size: 4, content_base64: file.toString("base64") });
    expect(full?.attachments[1]).not.to.have.property("content_base64");
  });

  it("cuts what is too long for an event, and goes on where it failed or a message was deleted", async () => {
    const source = await deployed();
    await append(plain("long", "X-Long: 1\r\n").replace("Please", '"'.repeat(2_000_000)));
    await append(plain(2));
    await append(plain(3));
    await box.mailboxOpen("INBOX");
    await box.messageDelete("2", { uid: true });
    source.configure(configured({ password: "wr0ng" }));
    const { failed } = await source.run();
    expect(failed)
      .to.match(/^127\.0\.0\.1 said: .*[Aa]uthentication failed/)
      .and.not.include("wr0ng");
    source.configure(configured());
    const [cut, kept] = (await source.events()) as { subject: string; text: string; is_cut: boolean }[];
    expect(cut).to.include({ subject: "Order long", is_cut: true });
    expect(cut?.text).to.match(/^"+…$/);
    expect(kept).to.include({ subject: "Order 3", is_cut: false });
    expect(await source.events()).to.deep.equal([]);
  });

  it("knows what is new by when it arrived, if the server counts the messages anew", async () => {
    const day = (n: number) => new Date(Date.UTC(2024, 4, n, 8));
    await box.mailboxCreate("Shop");
    for (const n of [1, 2, 3]) await append(plain(n), day(n), "Shop");
    const source = await deployed({ mailbox: "Shop" });
    const before = (await box.mailboxOpen("Shop")).uidValidity;
    await box.mailboxClose();
    await box.mailboxDelete("Shop");
    // A validity is a time in seconds.
    await box.mailboxCreate("Other");
    await box.mailboxRename("Other", "Shop");
    for (const n of [5, 3, 4, 1]) await append(plain(n), day(n), "Shop");
    expect((await box.mailboxOpen("Shop")).uidValidity).not.to.equal(before);
    await box.mailboxClose();
    expect(subjects(await source.events())).to.deep.equal(["Order 4", "Order 5"]);
    await append(plain(6), day(2), "Shop");
    expect(subjects(await source.events())).to.deep.equal(["Order 6"]);
  });

  it("emits only what it is told to, also by STARTTLS, and begins another mailbox at its end", async () => {
    const starttls = { security: "starttls", port: dovecot.plainPort };
    const source = await deployed({ ...starttls, from: "ADA@", subject: "order 2" });
    for (const n of [1, 2, 3]) await append(plain(n));
    await append(plain(2).replace("ada@", "bob@").replace("Ada", "Bob"));
    expect((await source.events()) as Mail[]).to.have.length(1);
    await box.mailboxCreate("Other");
    await append(plain(2), undefined, "Other");
    expect(await source.choices("mailbox")).to.have.members(["INBOX", "Other"]);
    source.configure(configured({ mailbox: "Other" }));
    expect(await source.events()).to.deep.equal([]);
  });

  it("tells who deploys it what is wrong, and trusts no certificate that nobody vouches for", async () => {
    const failed = async (given: object) => (await (await open(given)).call("deploy")).failed;
    expect(await failed({ mailbox: "Nothing" })).to.match(
      /127\.0\.0\.1 said: .*(doesn't exist|does not exist)/,
    );
    expect(await failed({ ca: "" })).to.match(/certificate/i);
    expect(await failed({ security: "starttls", port: dovecot.plainPort, ca: "" })).to.match(/certificate/i);
    expect(await failed({ port: 1 })).to.match(/ECONNREFUSED/);
  });
});
