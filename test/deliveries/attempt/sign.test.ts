import { createHmac, createPublicKey, timingSafeEqual, verify } from "node:crypto";
import { expect } from "chai";
import { Webhook as Verifier, WebhookVerificationError } from "standardwebhooks";
import { send } from "../../../src/deliveries/attempt/send.ts";
import { signatureHeaders } from "../../../src/deliveries/attempt/sign.ts";
import { newKeyPair } from "../../../src/webhooks/ed25519.ts";
import { OVERLAP_MS } from "../../../src/webhooks/signing-keys.ts";
import { rotateSigningKey } from "../../../src/webhooks/webhooks.ts";
import { openTestPlatform, type TestPlatform } from "../../support/platform.ts";
import { type Received, type Receiver, startReceiver } from "../../support/receiver.ts";
import { subscribe, webhookOf } from "../fixtures.ts";

const message = { id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: 1614265330, body: '{"test": 2432232314}' };
const key = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

describe("signing", () => {
  it("matches the published example of Standard Webhooks", () => {
    const headers = signatureHeaders(message, [key]);
    expect(headers["webhook-id"]).to.equal(message.id);
    expect(headers["webhook-timestamp"]).to.equal("1614265330");
    expect(headers["webhook-signature"]).to.equal("v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
  });

  it("uses the text of the signing key as the HMAC key of x-pd-signature", () => {
    const expected = createHmac("sha256", key).update(`1614265330.${message.body}`).digest("hex");
    expect(signatureHeaders(message, [key])["x-pd-signature"]).to.equal(`t=1614265330,v1=${expected}`);
  });

  it("signs with every key, the newest first", () => {
    const old = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
    const both = signatureHeaders(message, [key, old]);
    const one = (name: string, signingKey: string) => signatureHeaders(message, [signingKey])[name] ?? "";
    expect(both["webhook-signature"]).to.equal(
      `${one("webhook-signature", key)} ${one("webhook-signature", old)}`,
    );
    const oldPlain = one("x-pd-signature", old).split(",")[1];
    expect(both["x-pd-signature"]).to.equal(`${one("x-pd-signature", key)},${oldPlain}`);
  });
});

describe("signing by ed25519", () => {
  it("signs the text of Standard Webhooks, and nothing for receivers of HMAC", () => {
    const pair = newKeyPair();
    const { "webhook-signature": signature = "", ...others } = signatureHeaders(message, [pair.secret]);
    expect(Object.keys(others)).to.deep.equal(["webhook-id", "webhook-timestamp"]);
    expect(signature).to.match(/^v1a,[A-Za-z0-9+/]{86}==$/);
    const x = Buffer.from(pair.public.slice("whpk_".length), "base64").toString("base64url");
    const publicKey = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
    const text = Buffer.from(`${message.id}.${message.timestamp}.${message.body}`);
    const given = Buffer.from(signature.slice("v1a,".length), "base64");
    expect(verify(null, text, publicKey, given)).to.equal(true);
  });

  it("makes pairs whose secret part is the seed with the public key", () => {
    const pair = newKeyPair();
    const secret = Buffer.from(pair.secret.slice("whsk_".length), "base64");
    expect(secret).to.have.length(64);
    expect(`whpk_${secret.subarray(32).toString("base64")}`).to.equal(pair.public);
    expect(newKeyPair().secret).not.to.equal(pair.secret);
  });

  it("goes over from HMAC with a signature of each kind, in the order of the keys", () => {
    const headers = signatureHeaders(message, [newKeyPair().secret, key]);
    expect(headers["webhook-signature"]).to.match(
      /^v1a,\S{88} v1,g0hM9SsE\+OTPJTGt\/tmIKtSyZlE3uFJELVlNIOLJ1OE=$/,
    );
    expect(headers["x-pd-signature"]).to.equal(signatureHeaders(message, [key])["x-pd-signature"]);
  });
});

/** Returns true if a receiver with this key accepts the request; the published package decides. */
function standardVerifies(key: string, { headers, raw }: Pick<Received, "headers" | "raw">): boolean {
  try {
    new Verifier(key).verify(raw, headers as Record<string, string>);
    return true;
  } catch (error) {
    if (error instanceof WebhookVerificationError) return false;
    throw error;
  }
}

/** Verifies as receivers of `x-pd-signature` do: one `v1` over `t` and the exact body is enough. */
function pdVerifies(key: string, { headers, raw }: Pick<Received, "headers" | "raw">): boolean {
  const parts = String(headers["x-pd-signature"]).split(",");
  const at = parts.find(part => part.startsWith("t="))?.slice(2);
  const wanted = createHmac("sha256", key).update(`${at}.${raw}`).digest();
  return parts
    .filter(part => part.startsWith("v1="))
    .map(part => Buffer.from(part.slice(3), "hex"))
    .some(signature => signature.length === wanted.length && timingSafeEqual(signature, wanted));
}

describe("signatures at a receiver that verifies them", () => {
  // The standardwebhooks package rejects a timestamp that is 5 minutes off, so the day of the overlap ends now.
  let now = Date.now();
  let platform: TestPlatform;
  let receiver: Receiver;

  before(async () => {
    platform = await openTestPlatform({}, { process: "deliveries", clock: () => now });
    receiver = await startReceiver();
  });
  after(async () => {
    await receiver.close();
    await platform.destroy();
  });

  /** Sends one message at `atMs` and returns the request that arrived. */
  async function sent(webhookId: string, atMs: number, body = '{"naïve":"☃","n":1}'): Promise<Received> {
    now = atMs;
    const message = { id: "dlv_0CjBBm3Xs6JpR9wF", eventId: "1700000000000-3", emitterId: "dc_1" };
    const webhook = await webhookOf(platform, webhookId);
    await send(platform, webhook, { ...message, eventName: "", attempt: 1, body });
    const request = receiver.requests.at(-1);
    if (!request) throw new Error("no request arrived");
    return request;
  }

  for (const [what, body] of [
    ["a JSON body", '{"hello":"world"}'],
    ["text outside ASCII", '{"naïve":"☃ 💥 \\u0000"}'],
    ["an empty body", ""],
    ["a large body", JSON.stringify("x".repeat(500_000))],
  ] as const) {
    it(`verify for ${what}, but not with another key or after a changed byte`, async () => {
      const { webhookId, signingKey } = await subscribe(platform, receiver.url);
      const other = await subscribe(platform, receiver.url);
      const request = await sent(webhookId, Date.now(), body);
      expect(request.raw).to.equal(body);
      for (const verifies of [pdVerifies, standardVerifies]) {
        // The package parses the body that it has verified, and an empty body is not JSON.
        if (body !== "" || verifies === pdVerifies) expect(verifies(signingKey, request)).to.equal(true);
        expect(verifies(other.signingKey, request)).to.equal(false);
        expect(verifies(signingKey, { ...request, raw: `${body} ` })).to.equal(false);
      }
    });
  }

  for (const header of ["webhook-id", "webhook-timestamp", "webhook-signature"]) {
    it(`do not verify with another ${header}`, async () => {
      const { webhookId, signingKey } = await subscribe(platform, receiver.url);
      const request = await sent(webhookId, Date.now());
      expect(standardVerifies(signingKey, request)).to.equal(true);
      const value = String(request.headers[header]);
      const headers = {
        ...request.headers,
        [header]: value.replace(/.$/, last => (last === "1" ? "2" : "1")),
      };
      expect(standardVerifies(signingKey, { ...request, headers })).to.equal(false);
    });
  }

  it("verify with the old key for 24 hours after a rotation, and with the new key from the start", async () => {
    const { webhookId, signingKey: old } = await subscribe(platform, receiver.url);
    const end = Date.now();
    now = end - OVERLAP_MS;
    expect(OVERLAP_MS).to.equal(24 * 3_600_000);
    const fresh = (await rotateSigningKey(platform, await webhookOf(platform, webhookId))).signing_key;

    for (const verifies of [standardVerifies, pdVerifies]) {
      const within = await sent(webhookId, end - 1);
      expect([old, fresh].map(key => verifies(key, within))).to.deep.equal([true, true]);
      const after = await sent(webhookId, end);
      expect([old, fresh].map(key => verifies(key, after))).to.deep.equal([false, true]);
    }
  });

  it("verify after two rotations with each key that was replaced less than 24 hours ago", async () => {
    const { webhookId, signingKey: first } = await subscribe(platform, receiver.url);
    const end = Date.now();
    const rotate = async (atMs: number) => {
      now = atMs;
      return (await rotateSigningKey(platform, await webhookOf(platform, webhookId))).signing_key;
    };
    const second = await rotate(end - OVERLAP_MS);
    const third = await rotate(end - 1000);
    for (const verifies of [standardVerifies, pdVerifies]) {
      const before = await sent(webhookId, end - 500);
      expect([first, second, third].map(key => verifies(key, before))).to.deep.equal([true, true, true]);
      const after = await sent(webhookId, end + 500);
      expect([first, second, third].map(key => verifies(key, after))).to.deep.equal([false, true, true]);
    }
  });
});
