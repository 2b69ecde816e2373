import { expect } from "chai";
import type { Sandboxes } from "../../src/sandbox/sandboxes.ts";
import { openTestSandboxes } from "../examples/open-example.ts";
import { startMailServices } from "./mail-services.ts";
import { runAction } from "./open-shipped.ts";

const EVENT = { id: 17, customer: { name: "Ada", email: "Ada <ada@example.org>" } };
const ID = "dlv_0CjBAEdF3kWq9RtZ";

describe("the gallery's mail services", () => {
  let sandboxes: Sandboxes;
  let services: Awaited<ReturnType<typeof startMailServices>>;
  before(async () => {
    sandboxes = await openTestSandboxes();
  });
  beforeEach(async () => {
    services = await startMailServices();
  });
  afterEach(() => services.close());
  after(() => sandboxes?.close());

  const send = (service: string, given: object = {}) => {
    const configured = {
      ...{ service, apiKey: "k3y", api: services.url, domain: "example.com", stream: "outbound" },
      ...{ from: "Shop <orders@example.com>", to: ["{{event.customer.email}}", "b@example.org"] },
      ...{ subject: "Order {{event.id}}\nBcc: all@example.org", text: "Hello {{event.customer.name}}" },
    };
    return runAction(sandboxes, "headwater-mail-send", { ...configured, ...given }, EVENT);
  };
  const subject = "Order 17 Bcc: all@example.org";
  const to = ["Ada <ada@example.org>", "b@example.org"];

  it("get a mail as each of them takes it, with the delivery's id", async () => {
    const more = {
      cc: ["c@example.org"],
      bcc: ["d@example.org"],
      replyTo: "e@example.org",
      html: "<p>Hello</p>",
    };
    const ids = [];
    for (const service of ["resend", "postmark", "sendgrid", "mailgun"]) {
      const { emits, failed } = await send(service, more);
      expect(failed, service).to.equal(null);
      ids.push(emits.at(-1)?.event);
    }
    expect(ids).to.deep.equal(["re_1", "pm_2", "sg_3", "<mg_4>"].map(id => ({ value: { id } })));
    const [from, cc, bcc] = ["Shop <orders@example.com>", "c@example.org", "d@example.org"];
    const [text, html] = ["Hello Ada", "<p>Hello</p>"];
    expect(services.hooks.map(({ content }) => content)).to.deep.equal([
      { from, to, cc: [cc], bcc: [bcc], reply_to: "e@example.org", subject, text, html },
      {
        ...{ From: from, To: to.join(", "), Cc: cc, Bcc: bcc, ReplyTo: "e@example.org", Subject: subject },
        ...{ TextBody: text, HtmlBody: html, MessageStream: "outbound", Metadata: { delivery: ID } },
      },
      {
        personalizations: [
          {
            to: [{ email: "ada@example.org", name: "Ada" }, { email: "b@example.org" }],
            ...{ cc: [{ email: cc }], bcc: [{ email: bcc }] },
          },
        ],
        ...{
          from: { email: "orders@example.com", name: "Shop" },
          reply_to: { email: "e@example.org" },
          subject,
        },
        content: [
          { type: "text/plain", value: text },
          { type: "text/html", value: html },
        ],
        custom_args: { delivery: ID },
      },
      {
        ...{ from: [from], to, cc: [cc], bcc: [bcc], "h:Reply-To": ["e@example.org"], subject: [subject] },
        ...{ text: [text], html: [html], "v:delivery": [ID] },
      },
    ]);
  });

  it("get no more than there is, and Resend sends the mail of a repeated attempt once", async () => {
    await send("resend");
    const { emits } = await send("resend");
    expect(emits.at(-1)?.event).to.deep.equal({ value: { id: "re_1" } });
    expect(services.hooks).to.deep.equal([
      {
        path: "/emails",
        content: { from: "Shop <orders@example.com>", to, subject, text: "Hello Ada" },
        idempotencyKey: ID,
      },
    ]);
  });

  it("say themselves what is wrong, and the key is in no error", async () => {
    const failures: Record<string, [RegExp, RegExp]> = {
      resend: [/401: API key is invalid$/, /403: The example.net domain is not verified$/],
      postmark: [
        /401: Request does not contain a valid Server token\.$/,
        /422: The 'From' address you supplied/,
      ],
      sendgrid: [/401: The provided authorization grant is invalid$/, /403: The from address does not match/],
      mailgun: [/401: Forbidden$/, /400: from parameter is not a valid address$/],
    };
    for (const [service, [ofKey, ofSender]] of Object.entries(failures)) {
      expect((await send(service, { apiKey: "wr0ng" })).failed)
        .to.match(ofKey)
        .and.not.include("wr0ng");
      expect((await send(service, { from: "a@example.net" })).failed).to.match(ofSender);
    }
    expect((await send("mailgun", { domain: "" })).failed).to.match(/^Domain: Mailgun needs/);
    expect((await send("resend", { text: "" })).failed).to.equal("give a text, HTML, or both");
    expect(services.hooks).to.deep.equal([]);
  });
});
