import { generateKeyPairSync } from "node:crypto";
import { verify as verifyGithub } from "@octokit/webhooks-methods";
import { expect } from "chai";
import { Webhook } from "standardwebhooks";
import Stripe from "stripe";
import { PRESETS } from "../../src/verify/presets.ts";
import type { VerifyRule } from "../../src/verify/schema.ts";
import { openVerification } from "../../src/verify/settings.ts";
import { CantSign, signRequest } from "../../src/verify/sign.ts";
import { verifyRequest } from "../../src/verify/verify-request.ts";
import { SIGNERS, type Signer, URL_OF_SOURCE } from "./signers.ts";

const NOW = Date.parse("2026-11-28T12:00:00Z");
const BODY = '{"id":"evt_1","text":"ü"}';
const unsigned = (url = URL_OF_SOURCE) => ({
  method: "POST",
  url,
  headers: { "content-type": "application/json" },
  body: Buffer.from(BODY),
  id: "msg_1",
});
/** Private keys are those of the test's signers, which only they have. */
const isByPrivateKey = ({ scheme }: VerifyRule) =>
  scheme === "signature" || scheme === "sns" || scheme === "jwks";
const names = Object.entries(PRESETS).flatMap(([name, { rule }]) => (isByPrivateKey(rule) ? [] : [name]));

describe("a request that is signed as a provider signs", () => {
  for (const name of names) {
    const { rule } = PRESETS[name] ?? expect.fail();
    const { secret } = SIGNERS[name] as Signer;

    it(`is verified by the preset ${name}, for the right secret only`, () => {
      const url = name === "mercado-pago" ? `${URL_OF_SOURCE}?data.id=1` : URL_OF_SOURCE;
      const { headers, ...sent } = signRequest(rule, secret, unsigned(url), NOW);
      const lists = Object.fromEntries(Object.entries(headers).map(([key, value]) => [key, [value]]));
      const verdict = (secrets: string[]) =>
        verifyRequest(openVerification({ preset: name }, secrets), { ...sent, headers: lists }, NOW).outcome;
      expect(verdict([secret])).to.equal("verified");
      expect(verdict([(SIGNERS[name] as Signer).otherSecret])).to.equal("rejected");
    });
  }

  it("is verified by the provider's own code", async () => {
    const at = Date.now();
    const sent = (preset: string, secret: string) =>
      signRequest(PRESETS[preset]?.rule ?? expect.fail(), secret, unsigned(), at).headers;
    const { webhooks } = new Stripe("sk_test_none");
    const stripe = sent("stripe", "s3cr3t")["stripe-signature"] ?? "";
    expect(webhooks.constructEvent(BODY, stripe, "s3cr3t")).to.include({ id: "evt_1" });
    const github = sent("github", "s3cr3t")["x-hub-signature-256"] ?? "";
    expect(await verifyGithub("s3cr3t", BODY, github)).to.equal(true);
    const { secret } = SIGNERS["standard-webhooks"] as Signer;
    expect(new Webhook(secret).verify(BODY, sent("standard-webhooks", secret))).to.include({ id: "evt_1" });
  });

  it("is signed with the private key where the source has the public one", () => {
    const { publicKey, privateKey } = generateKeyPairSync("ed25519");
    const pem = String(privateKey.export({ type: "pkcs8", format: "pem" }));
    const { rule } = PRESETS.discord ?? expect.fail();
    const { headers, ...sent } = signRequest(rule, pem, unsigned(), NOW);
    const lists = Object.fromEntries(Object.entries(headers).map(([key, value]) => [key, [value]]));
    const shown = publicKey.export({ type: "spki", format: "der" }).subarray(-32).toString("hex");
    const verification = openVerification({ preset: "discord" }, [shown]);
    expect(verifyRequest(verification, { ...sent, headers: lists }, NOW).outcome).to.equal("verified");
  });

  it("needs a key of the preset, and a body that takes what it puts there", () => {
    const sign = (preset: string, secret: string, body = BODY) =>
      signRequest(
        PRESETS[preset]?.rule ?? expect.fail(),
        secret,
        { ...unsigned(), body: Buffer.from(body) },
        NOW,
      );
    expect(() => sign("svix", "not base64")).to.throw(CantSign);
    for (const preset of ["amazon-sns", "google-pubsub"]) {
      expect(() => sign(preset, SIGNERS[preset]?.secret ?? "")).to.throw(CantSign, /the provider alone/);
    }
    expect(() => sign("discord", "00".repeat(32))).to.throw(CantSign, /private key/);
    expect(() => sign("mailgun", "s3cr3t", "a=b")).to.throw(CantSign, /JSON/);
  });
});
