import { expect } from "chai";
import type { Sandboxes } from "../../src/sandbox/sandboxes.ts";
import { openTestSandboxes } from "../examples/open-example.ts";
import { startDiscord, startMattermost, startTeams, startTelegramChat } from "./message-vendors.ts";
import { runAction } from "./open-shipped.ts";
import type { Vendor } from "./vendors.ts";

const EVENT = { id: 17, customer: "Ada" };
const text = "Order {{event.id}} of {{event.customer}}";

describe("the gallery's messages:", () => {
  let sandboxes: Sandboxes;
  let vendor: Vendor<Record<string, unknown>>;
  before(async () => {
    sandboxes = await openTestSandboxes();
  });
  afterEach(() => vendor.close());
  after(() => sandboxes?.close());

  describe("Telegram", () => {
    const send = (given: object = {}, db = {}, event: unknown = EVENT) =>
      runAction(
        sandboxes,
        "headwater-telegram-message",
        { token: "1:t0ken", chat: "-1001", text, api: vendor.url, ...given },
        event,
        db,
      );

    it("sends a text as it is, or in a format and to a topic", async () => {
      vendor = await startTelegramChat("1:t0ken");
      const { emits } = await send();
      expect(emits.map(one => one.event)).to.deep.equal([
        { name: "$summary", value: "sent to Orders" },
        { value: { message_id: 1, chat_id: -1001 } },
      ]);
      expect((await send({ format: "HTML", topic: 5, silent: true })).failed).to.equal(null);
      expect(vendor.hooks).to.deep.equal([
        { chat_id: "-1001", text: "Order 17 of Ada", disable_notification: false },
        {
          ...{ chat_id: "-1001", text: "Order 17 of Ada", parse_mode: "HTML" },
          ...{ message_thread_id: 5, disable_notification: true },
        },
      ]);
    });

    it("cuts what is beyond 4,096 characters, but not within one, and leaves a format whole", async () => {
      vendor = await startTelegramChat("1:t0ken");
      const long = `${"x".repeat(4094)}😀😀`;
      expect((await send({ text: "{{event.long}}" }, {}, { long })).failed).to.equal(null);
      expect(vendor.hooks[0]?.text).to.equal(`${"x".repeat(4094)}…`);
      expect((await send({ text: "{{event.long}}", format: "HTML" }, {}, { long })).failed).to.equal(
        "Telegram said: Bad Request: message is too long",
      );
    });

    it("fails with what Telegram says, without the token, and asks for nothing as long as it has to wait", async () => {
      vendor = await startTelegramChat("1:t0ken", 0);
      const { failed, db } = await send();
      expect(failed).to.equal("Telegram said: Too Many Requests: retry after 7");
      expect((await send({}, db ?? {})).failed).to.match(
        /^nothing is sent until \d{4}-.*Z, as an attempt before/,
      );
      expect(vendor.requests).to.have.length(1);
      expect((await send({}, { wait_until_ms: Date.now() - 1 })).failed).to.match(/retry after 7/);
      expect((await send({ token: "2:wrong" })).failed)
        .to.equal("Telegram said: Unauthorized")
        .and.not.include("2:wrong");
    });
  });

  describe("chat", () => {
    const send = (given: object, db = {}) =>
      runAction(sandboxes, "headwater-chat-message", { text, ...given }, EVENT, db);

    it("goes to Discord, where it calls nobody unless it is told to", async () => {
      vendor = await startDiscord();
      const given = { kind: "discord", url: `${vendor.url}/api/webhooks/1/t0ken?thread_id=9` };
      const { emits, failed } = await send({ ...given, name: "Shop" });
      expect(failed).to.equal(null);
      expect(emits.at(-1)?.event).to.deep.equal({ value: { id: "77" } });
      expect(vendor.requests[0]?.path).to.equal("/api/webhooks/1/t0ken?thread_id=9&wait=true");
      await send({ ...given, mentions: true });
      await send({ ...given, text: "y".repeat(3000) });
      expect(vendor.hooks).to.deep.equal([
        { content: "Order 17 of Ada", username: "Shop", allowed_mentions: { parse: [] } },
        { content: "Order 17 of Ada" },
        { content: `${"y".repeat(1999)}…`, allowed_mentions: { parse: [] } },
      ]);
    });

    it("fails with what Discord says, without the address, and waits as long as it asks", async () => {
      vendor = await startDiscord();
      const wrong = await send({ kind: "discord", url: `${vendor.url}/api/webhooks/1/wr0ng` });
      expect(wrong.failed).to.equal(`${vendor.url}/ responded with status 404: Unknown Webhook`);
      const given = { kind: "discord", url: `${vendor.url}/api/webhooks/1/t0ken`, text: "fast" };
      const { failed, db } = await send(given);
      expect(failed).to.match(/status 429: You are being rate limited\.$/);
      expect((await send(given, db ?? {})).failed).to.match(/^nothing is sent until/);
      expect(vendor.requests).to.have.length(2);
    });

    it("goes to Mattermost, where it calls nobody unless it is told to", async () => {
      vendor = await startMattermost();
      const given = {
        kind: "mattermost",
        url: `${vendor.url}/hooks/t0ken`,
        text: "@all @here: a@channel.example",
      };
      expect((await send({ ...given, name: "Shop" })).failed).to.equal(null);
      expect((await send({ ...given, mentions: true })).failed).to.equal(null);
      expect(vendor.hooks).to.deep.equal([
        { text: "@\u200ball @\u200bhere: a@\u200bchannel.example", username: "Shop" },
        { text: given.text },
      ]);
      expect((await send({ ...given, url: `${vendor.url}/hooks/wr0ng` })).failed).to.equal(
        `${vendor.url}/ responded with status 400: Invalid webhook`,
      );
    });

    it("goes to Teams as a card, of no more bytes than it takes", async () => {
      vendor = await startTeams();
      const given = { kind: "teams", url: `${vendor.url}/workflows/1?sig=secret` };
      expect((await send({ ...given, name: "Shop" })).failed).to.equal(null);
      const [card] = vendor.hooks as [{ type: string; attachments: { content: { body: object[] } }[] }];
      expect(card.type).to.equal("message");
      expect(card.attachments[0]?.content.body).to.deep.equal([
        { type: "TextBlock", text: "Shop", weight: "Bolder", size: "Medium", wrap: true },
        { type: "TextBlock", text: "Order 17 of Ada", wrap: true },
      ]);
      for (const long of ["ä".repeat(30_000), '"'.repeat(30_000), "😀".repeat(15_000)]) {
        expect((await send({ ...given, text: long })).failed).to.equal(null);
        expect(Buffer.byteLength(JSON.stringify(vendor.hooks.at(-1)))).to.be.within(24_000, 28 * 1024);
      }
      expect((await send({ ...given, url: "no address" })).failed).to.equal("the webhook is not an address");
    });
  });
});
