import { createHash } from "node:crypto";
import { sign as signGithub, verify as verifyGithub } from "@octokit/webhooks-methods";
import { EventWebhook } from "@sendgrid/eventwebhook";
import { expect } from "chai";
import { verifyKey } from "discord-interactions";
import { Webhook } from "standardwebhooks";
import Stripe from "stripe";
import twilio from "twilio";
import { openVerification } from "../../src/verify/settings.ts";
import { verifyRequest } from "../../src/verify/verify-request.ts";
import { type Sent, SIGNERS, type Signer, URL_OF_SOURCE } from "./signers.ts";

const SECRET = "s3cr3t-ü";
const BODY = '{"id": "evt_1", "n": 1.0, "text": "ü\\u00fc – €"}';
/** Packages compare with the clock of the machine. */
const now = () => Date.now();

const post = (headers: Record<string, string>, body = BODY, url = URL_OF_SOURCE): Sent => ({
  method: "POST",
  url,
  headers,
  body: Buffer.from(body),
});
const isVerified = (preset: string, sent: Sent, secret = SECRET): boolean => {
  const headers = Object.fromEntries(Object.entries(sent.headers).map(([name, value]) => [name, [value]]));
  return (
    verifyRequest(openVerification({ preset }, [secret]), { ...sent, headers }, now()).outcome === "verified"
  );
};
const withBody = (sent: Sent, body: string): Sent => ({ ...sent, body: Buffer.from(body) });
const signerOf = (preset: string) => SIGNERS[preset] as Signer;

describe("the provider's own code", () => {
  it("of GitHub signs what the preset verifies, and verifies what our signer signs", async () => {
    const sent = post({ "x-hub-signature-256": await signGithub(SECRET, BODY) });
    expect([isVerified("github", sent), isVerified("github", withBody(sent, `${BODY} `))]).to.deep.equal([
      true,
      false,
    ]);
    const ours = signerOf("github").send(BODY, now());
    expect(await verifyGithub(SECRET, BODY, ours.headers["x-hub-signature-256"] ?? "")).to.equal(true);
  });

  it("of Stripe signs what the preset verifies, for five minutes", () => {
    const { webhooks } = new Stripe("sk_test_none");
    const header = (timestamp: number) =>
      webhooks.generateTestHeaderString({ payload: BODY, secret: SECRET, timestamp });
    const at = Math.floor(now() / 1000);
    const sent = post({ "stripe-signature": header(at) });
    expect([isVerified("stripe", sent), isVerified("stripe", withBody(sent, "{}"))]).to.deep.equal([
      true,
      false,
    ]);
    expect(isVerified("stripe", post({ "stripe-signature": header(at - 400) }))).to.equal(false);
    const ours = signerOf("stripe").send(BODY, now());
    const event = webhooks.constructEvent(
      BODY,
      ours.headers["stripe-signature"] ?? "",
      signerOf("stripe").secret,
    );
    expect(event.id).to.equal("evt_1");
  });

  it("of Standard Webhooks signs what the presets verify", () => {
    const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    const at = new Date(now());
    const signature = new Webhook(secret).sign("msg_1", at, BODY);
    for (const [preset, prefix] of [
      ["standard-webhooks", "webhook"],
      ["svix", "svix"],
    ] as const) {
      const timestamp = String(Math.floor(at.getTime() / 1000));
      const sent = post({
        [`${prefix}-id`]: "msg_1",
        [`${prefix}-timestamp`]: timestamp,
        [`${prefix}-signature`]: signature,
      });
      expect(isVerified(preset, sent, secret), preset).to.equal(true);
      expect(isVerified(preset, withBody(sent, "{}"), secret), preset).to.equal(false);
    }
    const ours = signerOf("standard-webhooks").send(BODY, now());
    expect(new Webhook(secret).verify(BODY, ours.headers)).to.include({ id: "evt_1" });
  });

  it("of Twilio signs forms, and addresses with the hash of a body", () => {
    const form = { To: "+1", From: "ü b", Digits: ["2", "1", "2"], Empty: "" };
    const signed = twilio.getExpectedTwilioSignature(SECRET, URL_OF_SOURCE, form);
    const body = new URLSearchParams(
      Object.entries(form).flatMap(([name, value]) =>
        [value].flat().map((one): [string, string] => [name, one]),
      ),
    ).toString();
    const type = { "content-type": "application/x-www-form-urlencoded" };
    const sent = post({ ...type, "x-twilio-signature": signed }, body);
    expect([isVerified("twilio", sent), isVerified("twilio", withBody(sent, `${body}&a=1`))]).to.deep.equal([
      true,
      false,
    ]);

    const url = `${URL_OF_SOURCE}?bodySHA256=${createHash("sha256").update(BODY).digest("hex")}`;
    const ofBody = post(
      { "x-twilio-signature": twilio.getExpectedTwilioSignature(SECRET, url, {}) },
      BODY,
      url,
    );
    expect(
      twilio.validateRequestWithBody(SECRET, ofBody.headers["x-twilio-signature"] ?? "", url, BODY),
    ).to.equal(true);
    expect([isVerified("twilio", ofBody), isVerified("twilio", withBody(ofBody, "{}"))]).to.deep.equal([
      true,
      false,
    ]);
  });

  it("of SendGrid verifies what our signer signs, as the preset does", () => {
    const { secret, send } = signerOf("sendgrid");
    const sent = send(BODY, now());
    const webhook = new EventWebhook();
    const key = webhook.convertPublicKeyToECDSA(secret);
    const verdict = (body: string) => [
      isVerified("sendgrid", withBody(sent, body), secret),
      webhook.verifySignature(
        key,
        body,
        sent.headers["x-twilio-email-event-webhook-signature"] ?? "",
        sent.headers["x-twilio-email-event-webhook-timestamp"] ?? "",
      ),
    ];
    expect(verdict(BODY)).to.deep.equal([true, true]);
    expect(verdict(`${BODY} `)).to.deep.equal([false, false]);
  });

  it("of Discord verifies what our signer signs, as the preset does", async () => {
    const { secret, send } = signerOf("discord");
    const sent = send(BODY, now());
    const verdict = async (body: string) => [
      isVerified("discord", withBody(sent, body), secret),
      await verifyKey(
        Buffer.from(body),
        sent.headers["x-signature-ed25519"] ?? "",
        sent.headers["x-signature-timestamp"] ?? "",
        secret,
      ),
    ];
    expect(await verdict(BODY)).to.deep.equal([true, true]);
    expect(await verdict(`${BODY} `)).to.deep.equal([false, false]);
  });
});
