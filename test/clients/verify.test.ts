import { readFileSync } from "node:fs";
import { expect } from "chai";
import { Webhook } from "standardwebhooks";
import { verify, WebhookError } from "../../clients/typescript/src/webhooks/index.ts";
import { signatureHeaders } from "../../src/deliveries/attempt/sign.ts";
import { newKeyPair } from "../../src/webhooks/ed25519.ts";

interface Case {
  name: string;
  secrets: string[];
  headers: Record<string, string>;
  body: string;
  tolerance_seconds?: number;
  signature?: "webhook-signature" | "x-pd-signature";
  expect: { valid: true; id: string; payload: unknown } | { valid: false; error: string };
}

const { now, cases } = JSON.parse(
  readFileSync(new URL("../../clients/conformance/verify.json", import.meta.url), "utf8"),
) as { now: number; cases: Case[] };

const secret = `whsec_${Buffer.from("a key of thirty-two bytes, exact").toString("base64")}`;
const body = '{"hello":"world"}';
const sign = (text: string, timestamp = Math.floor(Date.now() / 1000), keys = [secret]) =>
  signatureHeaders({ id: "dlv_1", timestamp, body: text }, keys);

/** The error that a promise is rejected with. */
async function errorOf(promise: Promise<unknown>): Promise<WebhookError> {
  const error = await promise.then(
    () => expect.fail("it was accepted"),
    reason => reason,
  );
  expect(error).to.be.an.instanceOf(WebhookError);
  return error;
}

describe("the conformance cases of verify", () => {
  for (const one of cases) {
    it(one.name, async () => {
      const { tolerance_seconds: toleranceSeconds, signature, expect: wanted } = one;
      const verified = verify(one.body, one.headers, one.secrets, {
        now: () => now * 1000,
        ...(toleranceSeconds !== undefined && { toleranceSeconds }),
        ...(signature && { signature }),
      });
      if (!wanted.valid) {
        expect((await errorOf(verified)).code).to.equal(wanted.error);
        return;
      }
      const { id, payload } = await verified;
      expect({ id, payload }).to.deep.equal({ id: wanted.id, payload: wanted.payload });
    });
  }

  it("are signed as the server signs", () => {
    const [first] = cases;
    const keys = first?.secrets ?? [];
    const { "webhook-id": id = "", "webhook-timestamp": time } = first?.headers ?? {};
    const signed = signatureHeaders({ id, timestamp: Number(time), body: first?.body ?? "" }, keys);
    expect(first?.headers).to.include(signed);
  });
});

describe("verify", () => {
  it("accepts what the reference library of Standard Webhooks signs", async () => {
    const at = new Date();
    const signature = new Webhook(secret).sign("msg_1", at, body);
    const seconds = String(Math.floor(at.getTime() / 1000));
    const headers = { "webhook-id": "msg_1", "webhook-timestamp": seconds, "webhook-signature": signature };
    expect((await verify(body, headers, secret)).id).to.equal("msg_1");
  });

  it("accepts what the server signs by ed25519, with the public key only", async () => {
    const pair = newKeyPair();
    const headers = sign(body, undefined, [pair.secret]);
    expect((await verify(body, headers, pair.public)).payload).to.deep.equal({ hello: "world" });
    expect((await errorOf(verify(`${body} `, headers, pair.public))).code).to.equal("signature-mismatch");
    expect((await errorOf(verify(body, headers, newKeyPair().public))).code).to.equal("signature-mismatch");
    const both = sign(body, undefined, [pair.secret, secret]);
    for (const key of [pair.public, secret, [secret, newKeyPair().public]]) {
      expect((await verify(body, both, key)).id).to.equal("dlv_1");
    }
    const plain = await errorOf(verify(body, headers, pair.public, { signature: "x-pd-signature" }));
    expect(plain.code).to.equal("header-missing");
  });

  it("reads bodies of every kind that holds bytes", async () => {
    const bytes = Buffer.from(`xx${body}xx`).subarray(2, -2);
    const whole = new Uint8Array(Buffer.from(body)).buffer;
    for (const raw of [body, bytes, new Uint8Array(bytes), new DataView(whole), whole]) {
      expect((await verify(raw, sign(body), secret)).payload).to.deep.equal({ hello: "world" });
    }
  });

  it("reads headers of every kind", async () => {
    const headers = sign(body);
    const lists = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]]));
    for (const given of [
      headers,
      lists,
      new Headers(headers),
      Object.entries(headers),
      new Map(Object.entries(headers)),
    ]) {
      expect((await verify(body, given as Record<string, string>, secret)).id).to.equal("dlv_1");
    }
  });

  it("says of a parsed body that it must be mounted before the JSON parser", async () => {
    for (const parsed of [JSON.parse(body), [1], 5, { type: "Buffer", data: [1] }]) {
      const error = await errorOf(verify(parsed as string, sign(body), secret));
      expect(error.message).to.match(
        /the body was parsed before it came here.*mount this before the JSON parser/,
      );
      expect([error.code, error.status]).to.deep.equal(["body-parsed", 500]);
    }
    const missing = await errorOf(verify(undefined as unknown as string, sign(body), secret));
    expect(missing.message).to.match(/there is no body, or it was read before it came here/);
  });

  it("shows where an event came from, with the channel's name decoded", async () => {
    const headers = {
      ...sign(body),
      "x-headwater-event-id": "1767225599000-0",
      "x-headwater-emitter-id": "p_1",
      "x-headwater-event-name": "b%C3%A4r",
      "x-headwater-attempt": "2",
    };
    const { eventId, emitterId, eventName, attempt } = await verify(body, headers, secret);
    expect({ eventId, emitterId, eventName, attempt }).to.deep.equal({
      eventId: "1767225599000-0",
      emitterId: "p_1",
      eventName: "bär",
      attempt: 2,
    });
  });

  it("says how old a request is, and never shows a secret", async () => {
    const old = await errorOf(verify(body, sign(body, Math.floor(Date.now() / 1000) - 3600), secret));
    expect(old.message).to.match(/signed 36\d\d s ago, 300 s are allowed: is this clock right\?/);
    const wrong = await errorOf(verify(body, sign(body), [secret, `whsec_${"?".repeat(9)}`]));
    expect(wrong.message).to.equal("secrets.1: must be the signing key of a webhook, whsec_ and base64");
    expect(wrong.status).to.equal(500);
  });

  it("accepts no tolerance that is not a number", async () => {
    const error = await verify(body, sign(body), secret, { toleranceSeconds: Number.NaN }).catch(
      reason => reason,
    );
    expect(error.message).to.equal("toleranceSeconds must be a number from 0");
  });

  it("looks at a bounded number of signatures", async () => {
    const { "webhook-signature": good = "", ...others } = sign(body);
    const other = `v1,${Buffer.alloc(32).toString("base64")}`;
    const behind = (count: number) => ({
      ...others,
      "webhook-signature": [...Array<string>(count).fill(other), good].join(" "),
    });
    expect((await verify(body, behind(19), secret)).id).to.equal("dlv_1");
    expect((await errorOf(verify(body, behind(20), secret))).code).to.equal("signature-mismatch");
  });
});
