import { generateKeyPairSync } from "node:crypto";
import { expect } from "chai";
import { exportJWK } from "jose";
import { pino } from "pino";
import { createEgress, type Egress } from "../../src/egress/agent.ts";
import { Senders } from "../../src/ingress/senders.ts";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { readKeySet } from "../../src/verify/tokens.ts";
import { send } from "../sources/http-client.ts";
import type { Api, SourceView } from "../support/api.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";
import {
  googleToken,
  SIGNERS,
  type Signer,
  SNS_CERTIFICATE_URL,
  SNS_TOPIC,
  snsMessage,
} from "../verify/signers.ts";
import { SNS_TEST } from "../verify/sns-certificate.ts";

const MINUTE = 60_000;

describe("the public keys of senders", () => {
  let set: (kid: string) => string;
  let receiver: Receiver;
  let egress: Egress;
  let nowMs = Date.now();
  before(async () => {
    const { publicKey } = generateKeyPairSync("ed25519");
    const jwk = await exportJWK(publicKey);
    set = kid => JSON.stringify({ keys: [{ ...jwk, kid }] });
    egress = createEgress({ allow: ["127.0.0.1"], blockedHosts: [], connectTimeoutMs: 2000 });
  });
  after(() => egress.close());
  beforeEach(async () => {
    receiver = await startReceiver({ status: 200, body: set("k1") });
  });
  afterEach(() => receiver.close());

  const open = (through: Pick<Egress, "request"> = egress) =>
    new Senders({ clock: () => nowMs, log: pino({ level: "silent" }), egress: { ...egress, ...through } });
  const sought = (kid: string, url = receiver.url) => ({ url, name: `EdDSA ${kid}`, read: readKeySet });
  const isKnown = async (senders: Senders, kid: string, account = "a") =>
    (await senders.key(account, sought(kid))) !== null;

  it("are asked for once, however many requests wait for them, and then kept", async () => {
    const senders = open();
    const all = await Promise.all(Array.from({ length: 50 }, () => isKnown(senders, "k1")));
    expect([new Set(all), receiver.requests.length]).to.deep.equal([new Set([true]), 1]);
    nowMs += 9 * MINUTE;
    expect([await isKnown(senders, "k1"), receiver.requests.length]).to.deep.equal([true, 1]);
  });

  it("are asked for again by the name of a new one, at most twice a minute", async () => {
    const senders = open();
    await isKnown(senders, "k1");
    receiver.script({ status: 200, body: set("k2") });
    for (let n = 0; n < 20; n += 1) expect(await isKnown(senders, `forged${n}`)).to.equal(false);
    expect(receiver.requests).to.have.length(1);
    nowMs += MINUTE;
    expect([await isKnown(senders, "k2"), await isKnown(senders, "k1")]).to.deep.equal([true, false]);
    expect(receiver.requests).to.have.length(2);
  });

  it("are renewed while requests go on, and used for a day if their address does not respond", async () => {
    const senders = open();
    await isKnown(senders, "k1");
    receiver.script("hang");
    nowMs += 11 * MINUTE;
    expect(await isKnown(senders, "k1"), "does not wait").to.equal(true);
    await until(() => receiver.hanging() === 1, { what: "the request that renews" });
    receiver.script(500);
    receiver.release();
    nowMs += LIMITS.senderKeysKeptMs.value - 12 * MINUTE;
    expect(await isKnown(senders, "k1")).to.equal(true);
    nowMs += 2 * MINUTE;
    expect(await isKnown(senders, "k1")).to.equal(false);
    receiver.script({ status: 200, body: set("k1") });
    nowMs += MINUTE;
    expect(await isKnown(senders, "k1")).to.equal(true);
  });

  it("are none if they come too slowly, are too many, or no keys", async () => {
    receiver.script("hang");
    // The bound itself, in a hundredth of its time.
    const hurried: Pick<Egress, "request"> = {
      request(url, given) {
        expect(given.timeoutMs).to.equal(LIMITS.senderRequestMs.value);
        return egress.request(url, { ...given, timeoutMs: given.timeoutMs / 100 });
      },
    };
    expect(await isKnown(open(hurried), "k1")).to.equal(false);
    const huge = set("k1").padEnd(LIMITS.senderKeyBytes.value + 1);
    for (const reply of [
      { status: 200, body: huge },
      { status: 200, body: "<html>" },
      { status: 302, headers: { location: "/" } },
      { status: 404, body: set("k1") },
      "reset" as const,
    ]) {
      receiver.script(reply);
      expect(await isKnown(open(), "k1"), JSON.stringify(reply).slice(0, 40)).to.equal(false);
    }
    receiver.script({ status: 200, body: huge.slice(0, -1) });
    expect(await isKnown(open(), "k1")).to.equal(true);
  });

  it("are not fetched from an address that the egress guard blocks", async () => {
    const guarded = createEgress({ allow: [], blockedHosts: [], connectTimeoutMs: 2000 });
    try {
      expect(await isKnown(open(guarded), "k1")).to.equal(false);
      expect(receiver.requests).to.deep.equal([]);
    } finally {
      await guarded.close();
    }
  });

  it("take no more than an account's share of requests, and leave another account its own", async () => {
    receiver.script("hang");
    const senders = open();
    const most = LIMITS.senderRequests.value;
    const slow = Array.from({ length: most }, (_, n) =>
      senders.key("a", sought("k1", `${receiver.url}${n}`)),
    );
    await until(() => receiver.hanging() === most, { what: "slow addresses" });
    receiver.script({ status: 200, body: set("k1") });
    expect(await isKnown(senders, "k1", "a"), "one too many").to.equal(false);
    expect(await senders.confirm("a", receiver.url), "is one, too").to.equal(false);
    expect(receiver.requests).to.have.length(most);
    expect(await isKnown(senders, "k1", "b")).to.equal(true);
    receiver.release();
    expect(await Promise.all(slow)).to.deep.equal(Array(most).fill(null));
    expect(await senders.confirm("a", receiver.url)).to.equal(true);
  });
});

const ECHO = `export default { name: "Echo", version: "0.0.1", props: { http: "$.interface.http" },
  run(event) { this.$emit({ verified: event.verified }); } };`;
const endpointOf = (source: SourceView) => source.configured_props.http?.endpoint_url ?? "";

describe("a request that is signed with a published key", () => {
  let system: System;
  let api: Api;
  let receiver: Receiver;
  /** Addresses that were requested of hosts beyond this machine, for which the receiver stands. */
  const asked: string[] = [];
  before(async () => {
    system = await startSystem();
    api = await system.user();
    const { request } = system.web.egress;
    const standIn: Egress["request"] = (url, given) => {
      const { hostname, pathname, search } = new URL(url);
      if (hostname === "127.0.0.1") return request(url, given);
      asked.push(String(url));
      return request(`${new URL(receiver.url).origin}${pathname}${search}`, given);
    };
    Object.assign(system.web.egress, { request: standIn });
  });
  after(() => system.stop());
  beforeEach(async () => {
    receiver = await startReceiver();
    asked.length = 0;
  });
  afterEach(() => receiver.close());

  const deploy = (verify: object) => api.createSource({ component_code: ECHO, verify });
  const events = async (source: SourceView, count = 1) => {
    const rows = await until(
      async () => {
        const found = await api.summaries(source.id, { query: { expand: "event" } });
        return found.length >= count && found;
      },
      { what: "the events" },
    );
    return rows.map(({ event }) => (event.raw_event as { verified: object }).verified);
  };
  const jwks = async (kid: string) => {
    const jwk = await exportJWK((SIGNERS["google-pubsub"] as Signer).published ?? expect.fail());
    return { status: 200, body: JSON.stringify({ keys: [{ ...jwk, kid }] }) };
  };

  it("of Google runs once its key is there, and comes again while it can't be fetched", async () => {
    const email = "push@project.iam.gserviceaccount.com";
    const source = await deploy({ preset: "google-pubsub", secrets: [email] });
    const exp = Math.floor(Date.now() / 1000) + 600;
    const claims = { aud: endpointOf(source), email, email_verified: true, exp, iat: exp - 600 };
    const sent = (changes: object = {}, kid = "k1") => {
      const token = googleToken({ iss: "https://accounts.google.com", ...claims, ...changes }, kid);
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
      return send(endpointOf(source), { headers, body: ['{"message":{"messageId":"m-1"}}'] });
    };
    expect((await send(endpointOf(source), { body: ["{}"] })).status).to.equal(401);
    expect(asked, "nothing is asked for what has no token").to.deep.equal([]);
    receiver.script(await jwks("k1"));
    expect((await sent()).status).to.equal(200);
    expect(await events(source)).to.deep.equal([
      { preset: "google-pubsub", id: "m-1", at: claims.iat * 1000 },
    ]);
    expect((await sent({ aud: "https://another.example/" })).status).to.equal(401);
    expect((await sent({ email: "another@project.iam.gserviceaccount.com" })).status).to.equal(401);
    const unknown = await sent({}, "k2");
    expect([unknown.status, unknown.headers["retry-after"]]).to.deep.equal([503, "30"]);
    expect(asked).to.deep.equal(["https://www.googleapis.com/oauth2/v3/certs"]);
    const { counts } = await until(
      async () => {
        const found = await api.expect(200, "GET", `/sources/${source.id}/rejections`);
        return found.last.length === 4 && found;
      },
      { what: "the rejections" },
    );
    expect(counts).to.deep.equal({ "no-signature": 1, claims: 1, mismatch: 1, "no-key": 1 });
  });

  it("of Amazon SNS runs, after its subscription was confirmed", async () => {
    const source = await deploy({ preset: "amazon-sns", secrets: [SNS_TOPIC] });
    const message = {
      ...{ Type: "Notification", TopicArn: SNS_TOPIC, SignatureVersion: "2", MessageId: "m-1" },
      ...{ Message: "{}", Timestamp: new Date().toISOString() },
    };
    const query = `Action=ConfirmSubscription&TopicArn=${SNS_TOPIC}&Token=2336412f`;
    const SubscribeURL = `https://sns.us-west-2.amazonaws.com/?${query}`;
    const confirmation = { ...message, Type: "SubscriptionConfirmation", Token: "2336412f", SubscribeURL };
    const post = (fields: Record<string, string>) => {
      const { headers, body } = snsMessage(fields);
      return send(endpointOf(source), { headers, body: [body] });
    };
    const certificate = { status: 200, body: SNS_TEST.certificate };
    receiver.script(certificate, 500);
    expect((await post(confirmation)).status, "SNS asks again").to.equal(503);
    receiver.script({ status: 200, body: "<ConfirmSubscriptionResponse/>" });
    const confirmed = await post(confirmation);
    expect([confirmed.status, confirmed.text]).to.deep.equal([200, ""]);
    const forged = { ...message, TopicArn: `${SNS_TOPIC}2` };
    expect((await post(forged)).status).to.equal(401);
    const { status } = await post(message);
    expect(status).to.equal(200);
    expect(await events(source)).to.deep.equal([
      { preset: "amazon-sns", id: "m-1", at: Date.parse(message.Timestamp) },
    ]);
    expect(asked).to.deep.equal([SNS_CERTIFICATE_URL, SubscribeURL, SubscribeURL]);
  });

  it("is verified by the keys of a rule of one's own, at an address of one's own", async () => {
    receiver.script(await jwks("k7"));
    const rule = {
      scheme: "jwks",
      signature: { at: ["{{headers.x-token}}"], encoding: "text" },
      jwks: { url: receiver.url, secret_claim: "aud" },
    };
    const source = await deploy({ rule, secrets: ["ours"] });
    const exp = Math.floor(Date.now() / 1000) + 600;
    const sent = (aud: string) =>
      send(endpointOf(source), { headers: { "x-token": googleToken({ aud, exp }, "k7") }, body: ["{}"] });
    expect((await sent("ours")).status).to.equal(200);
    expect((await sent("theirs")).status).to.equal(401);
    expect(receiver.requests).to.have.length(1);
  });
});
