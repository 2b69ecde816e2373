import { createHmac } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { expect } from "chai";
import { send } from "../../../src/deliveries/attempt/send.ts";
import type { Message } from "../../../src/destinations/message.ts";
import { AppError } from "../../../src/lib/errors.ts";
import { rotateSigningKey } from "../../../src/webhooks/webhooks.ts";
import { startConnectProxy } from "../../egress/connect-proxy.ts";
import { openTestPlatform, type TestPlatform } from "../../support/platform.ts";
import { type Receiver, startReceiver } from "../../support/receiver.ts";
import { until } from "../../support/until.ts";
import { subscribe, webhookOf } from "../fixtures.ts";

const message: Message = {
  id: "dlv_1",
  eventId: "1700000000000-3",
  emitterId: "dc_1",
  eventName: "orders",
  attempt: 2,
  body: '{"naïve":"☃"}',
};

describe("sending one attempt", () => {
  let platform: TestPlatform;
  let receiver: Receiver;

  before(async () => {
    platform = await openTestPlatform({ TIMEOUTS: "attempt:500ms" }, { process: "deliveries" });
  });
  after(() => platform.destroy());
  beforeEach(async () => {
    receiver = await startReceiver();
  });
  afterEach(() => receiver.close());

  const webhookAt = async (url: string, headers?: Record<string, string>) => {
    const listener = await subscribe(platform, url, headers ? { headers } : {});
    return { ...listener, webhook: await webhookOf(platform, listener.webhookId) };
  };

  it("POSTs the event unchanged, with every documented header", async () => {
    const { webhook } = await webhookAt(receiver.url);
    const result = await send(platform, webhook, message);
    expect(result).to.include({ status: 200, error: null, timedOut: false });
    const [request] = receiver.requests;
    expect(request).to.include({ method: "POST", path: "/hook", raw: message.body });
    expect(request?.headers).to.include({
      "content-type": "application/json",
      "user-agent": `Headwater/${platform.config.version}`,
      "webhook-id": "dlv_1",
      "x-headwater-event-id": "1700000000000-3",
      "x-headwater-emitter-id": "dc_1",
      "x-headwater-event-name": "orders",
      "x-headwater-attempt": "2",
    });
  });

  it("signs with both keys while the old key is still valid", async () => {
    const { webhook, signingKey } = await webhookAt(receiver.url);
    const fresh = await rotateSigningKey(platform, webhook);
    await send(platform, await webhookOf(platform, webhook._id), message);
    const headers = receiver.requests[0]?.headers ?? {};
    const signed = `dlv_1.${headers["webhook-timestamp"]}.${message.body}`;
    const expected = [fresh.signing_key, signingKey].map(key => {
      const secret = Buffer.from(key.replace("whsec_", ""), "base64");
      return `v1,${createHmac("sha256", secret).update(signed).digest("base64")}`;
    });
    expect(headers["webhook-signature"]).to.equal(expected.join(" "));
    const plain = createHmac("sha256", fresh.signing_key)
      .update(`${headers["webhook-timestamp"]}.${message.body}`)
      .digest("hex");
    expect(headers["x-pd-signature"]).to.match(new RegExp(`^t=\\d+,v1=${plain},v1=[0-9a-f]{64}$`));
  });

  it("sends custom headers", async () => {
    const { webhook } = await webhookAt(receiver.url, { Authorization: "Bearer s3cret" });
    await send(platform, webhook, message);
    expect(receiver.requests[0]?.headers.authorization).to.equal("Bearer s3cret");
  });

  it("percent-encodes a channel name that a header can't hold", async () => {
    const { webhook } = await webhookAt(receiver.url);
    for (const [name, shown] of [
      ["größe\r\nx-evil: 1", "gr%C3%B6%C3%9Fe%0D%0Ax-evil: 1"],
      ["lone \ud800 half", "lone %EF%BF%BD half"],
    ] as const) {
      await send(platform, webhook, { ...message, eventName: name });
      expect(receiver.requests.at(-1)?.headers["x-headwater-event-name"]).to.equal(shown);
    }
  });

  it("does not follow a redirect", async () => {
    receiver.script({ status: 302, headers: { location: "/elsewhere" } });
    const { webhook } = await webhookAt(receiver.url);
    expect(await send(platform, webhook, message)).to.include({ status: 302, error: "HTTP status 302" });
    expect(receiver.requests).to.have.length(1);
  });

  it("keeps the first KB of a long response, marked as cut, and its Retry-After", async () => {
    receiver.script({ status: 503, headers: { "retry-after": "7" }, body: "x".repeat(100_000) });
    const { webhook } = await webhookAt(receiver.url);
    const result = await send(platform, webhook, message);
    expect(result).to.include({ status: 503, error: "HTTP status 503", retryAfter: "7" });
    expect(result.response).to.equal(`${"x".repeat(1023)}…`);
  });

  it("distinguishes a time-out, a reset connection and a refused connection", async () => {
    const { webhook } = await webhookAt(receiver.url);
    receiver.script("hang");
    const late = await send(platform, webhook, message);
    expect(late).to.include({ status: null, timedOut: true });
    expect(late.error).to.match(/^timeout: /);
    receiver.script("reset");
    const broken = await send(platform, webhook, message);
    expect(broken).to.include({ status: null, timedOut: false });
    expect(broken.error).to.match(/^reset: /);
    const refused = await send(platform, { ...webhook, url: "http://127.0.0.1:1/" }, message);
    expect(refused).to.include({ status: null, timedOut: false });
    expect(refused.error).to.match(/^connect: /);
  });

  it("gives the endpoint the webhook's own time, longer or shorter than the installation's", async () => {
    const { webhook } = await webhookAt(receiver.url);
    receiver.script(async () => {
      await delay(700);
      return 200;
    });
    expect(await send(platform, { ...webhook, timeout_seconds: 20 }, message)).to.include({ status: 200 });
    const patient = await openTestPlatform({ TIMEOUTS: "attempt:30s" }, { process: "deliveries" });
    try {
      receiver.script("hang");
      const late = await send(patient, { ...webhook, signing_keys: [], timeout_seconds: 1 }, message);
      expect(late.error).to.match(/^timeout: .* within 1000 ms/);
    } finally {
      await patient.destroy();
    }
  });

  it("goes through the forward proxy, whose absence is no failure of the endpoint", async () => {
    const proxy = await startConnectProxy();
    const EGRESS_PROXY = `http://headwater:s3cret@127.0.0.1:${proxy.port}`;
    const behind = await openTestPlatform({ EGRESS_PROXY }, { process: "deliveries" });
    try {
      const { webhook } = await webhookAt(receiver.url);
      const sealedThere = { ...webhook, signing_keys: [], headers: null };
      expect(await send(behind, sealedThere, message)).to.include({ status: 200, error: null });
      expect(proxy.asked).to.deep.equal([new URL(receiver.url).host]);
      const atProxy = await send(behind, { ...sealedThere, url: `http://127.0.0.1:${proxy.port}/` }, message);
      expect(atProxy.error).to.match(/^blocked-address: /);
      await proxy.close();
      const other = { ...sealedThere, url: "http://127.0.0.2:1/" };
      const error = await send(behind, other, message).then(
        () => expect.fail("it counts as an attempt"),
        (thrown: unknown) => thrown,
      );
      expect(error).to.be.instanceOf(AppError).with.property("code", "unavailable");
    } finally {
      await behind.destroy();
    }
  });

  it("does not connect to an address that is not public", async () => {
    const { webhook } = await webhookAt(receiver.url);
    const result = await send(platform, { ...webhook, url: "http://10.0.0.1/" }, message);
    expect(result.error).to.match(/^blocked-address: /);
  });

  it("throws unavailable, not a result, if it is aborted", async () => {
    receiver.script("hang");
    const { webhook } = await webhookAt(receiver.url);
    const stop = new AbortController();
    const attempt = send(platform, webhook, message, stop.signal).catch((error: unknown) => error);
    await until(() => receiver.hanging() === 1);
    stop.abort();
    expect(await attempt)
      .to.be.instanceOf(AppError)
      .with.property("code", "unavailable");
  });
});
