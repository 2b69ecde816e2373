import { expect } from "chai";
import type { Sandboxes } from "../../src/sandbox/sandboxes.ts";
import { openTestSandboxes } from "../examples/open-example.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { runAction } from "./open-shipped.ts";

const EVENT = { id: 17, customer: { name: "Ada" } };

describe("the gallery's actions:", () => {
  let sandboxes: Sandboxes;
  let server: Receiver;
  let origin: string;
  before(async () => {
    sandboxes = await openTestSandboxes();
  });
  beforeEach(async () => {
    server = await startReceiver();
    origin = new URL(server.url).origin;
  });
  afterEach(() => server.close());
  after(() => sandboxes?.close());

  describe("an HTTP request", () => {
    const send = (configured: object) =>
      runAction(
        sandboxes,
        "headwater-http-request",
        { url: `${origin}/orders/{{event.id}}?key=secret`, ...configured },
        EVENT,
      );

    it("has values of the event, and an idempotency key that repeated attempts have, too", async () => {
      server.script({ status: 201, body: '{"ok":true}' });
      const body = { order: "{{event.id}}", all: "{{event}}" };
      const headers = { "x-customer": "{{event.customer.name}}" };
      const { emits, failed } = await send({ method: "PUT", body, headers, authorization: "Bearer t0ken" });
      expect(failed).to.equal(null);
      const [request] = server.requests;
      expect(request).to.include({ method: "PUT", path: "/orders/17?key=secret" });
      expect(JSON.parse(request?.raw ?? "")).to.deep.equal({ order: 17, all: EVENT });
      expect(request?.headers).to.include({
        "content-type": "application/json",
        "idempotency-key": "dlv_0CjBAEdF3kWq9RtZ",
        "x-customer": "Ada",
        authorization: "Bearer t0ken",
      });
      expect(emits.map(({ event }) => event)).to.deep.equal([
        { name: "$summary", value: `PUT ${new URL(origin).host}: 201` },
        { value: { status: 201, body: { ok: true } } },
      ]);
    });

    it("fails with the message of the response for a status that is not expected, without query and token", async () => {
      server.script({ status: 422, body: '{"errors":[{"message":"order is closed"}]}' });
      const { failed } = await send({ authorization: "Bearer t0ken" });
      expect(failed).to.equal(`${origin}/orders/17 responded with status 422: order is closed`);
      expect((await send({ expected: [422] })).failed).to.equal(null);
      server.script(204);
      expect((await send({ expected: [200] })).failed).to.match(/status 204$/);
    });

    it("sends a text as it is, and no body by GET", async () => {
      await send({ body: "order {{event.id}}" });
      await send({ method: "GET", body: "x" });
      expect(server.requests.map(({ raw, headers }) => [raw, headers["content-type"]])).to.deep.equal([
        ["order 17", "text/plain; charset=utf-8"],
        ["", undefined],
      ]);
    });
  });

  describe("a Slack message", () => {
    const send = (configured: object) =>
      runAction(
        sandboxes,
        "headwater-slack-message",
        { text: "Order {{event.id}} of {{event.customer.name}}", ...configured },
        EVENT,
      );
    const bot = () => ({ token: "xoxb-1", channel: "C1", api: origin });

    it("goes to an incoming webhook, whose address is in no error", async () => {
      const webhookUrl = `${origin}/services/T0/B0/secret`;
      server.script({ status: 200, body: "ok" });
      expect((await send({ webhookUrl })).failed).to.equal(null);
      expect(server.requests[0]?.raw).to.equal('{"text":"Order 17 of Ada"}');
      server.script({ status: 404, body: "no_service" });
      expect((await send({ webhookUrl })).failed).to.equal(
        `${origin}/ responded with status 404: no_service`,
      );
    });

    it("goes to a channel with a bot token, with blocks and in a thread", async () => {
      server.script({ status: 200, body: '{"ok":true,"channel":"C1","ts":"1.2"}' });
      const { emits } = await send({ ...bot(), thread: "1.1", blocks: [{ type: "divider" }] });
      const [request] = server.requests;
      expect(request).to.include({ method: "POST", path: "/chat.postMessage" });
      expect(request?.headers.authorization).to.equal("Bearer xoxb-1");
      expect(JSON.parse(request?.raw ?? "")).to.deep.equal({
        ...{ channel: "C1", text: "Order 17 of Ada", thread_ts: "1.1", blocks: [{ type: "divider" }] },
      });
      expect(emits.at(-1)?.event).to.deep.equal({ value: { ok: true, channel: "C1", ts: "1.2" } });
    });

    it("fails with what Slack says, and without a way to send it", async () => {
      const body = {
        ok: false,
        error: "invalid_blocks",
        response_metadata: { messages: ["[ERROR] no type"] },
      };
      server.script({ status: 200, body: JSON.stringify(body) });
      expect((await send(bot())).failed).to.equal("Slack said invalid_blocks; [ERROR] no type");
      server.script({
        status: 429,
        headers: { "retry-after": "30" },
        body: '{"ok":false,"error":"ratelimited"}',
      });
      expect((await send(bot())).failed).to.match(/status 429: ratelimited$/);
      expect((await send({ token: "xoxb-1" })).failed).to.match(
        /give an incoming webhook, or a bot token and a channel/,
      );
    });
  });
});
