import { createHmac } from "node:crypto";
import { expect } from "chai";
import { LIMITS } from "../../src/limits/catalogue.ts";
import type { SignedRequest } from "../../src/verify/request-values.ts";
import { openVerification } from "../../src/verify/settings.ts";
import { verifyRequest } from "../../src/verify/verify-request.ts";
import { SIGNERS, type Signer, URL_OF_SOURCE } from "./signers.ts";

const NOW = Date.parse("2026-11-28T12:00:00Z");

/** A request of the provider, signed by it, with this body. */
function signed(preset: string, body: object, secret?: string) {
  const { secret: own, send } = SIGNERS[preset] as Signer;
  const sent = send(JSON.stringify(body), NOW, secret ?? own);
  const headers = Object.fromEntries(Object.entries(sent.headers).map(([name, value]) => [name, [value]]));
  return verifyRequest(openVerification({ preset }, [own]), { ...sent, headers }, NOW);
}

function unsigned(preset: string, changes: Partial<SignedRequest>, secrets: string[] = []) {
  const request = { method: "GET", url: URL_OF_SOURCE, headers: {}, body: Buffer.alloc(0), ...changes };
  return verifyRequest(openVerification({ preset }, secrets), request, NOW);
}

const TEXT = "text/plain; charset=utf-8";
const JSON_TYPE = "application/json; charset=utf-8";

describe("a challenge", () => {
  it("of Slack is sent back, if Slack has signed it", () => {
    const challenge = { type: "url_verification", challenge: "3eZbrw1aB" };
    expect(signed("slack", challenge)).to.deep.equal({
      outcome: "challenge",
      response: { status: 200, type: TEXT, body: "3eZbrw1aB" },
    });
    expect(signed("slack", challenge, "another")).to.deep.equal({ outcome: "rejected", reason: "mismatch" });
    expect(signed("slack", { type: "event_callback", challenge: "x" })).to.include({ outcome: "verified" });
  });

  it("of Zoom is signed", () => {
    const plainToken = 'qgg8vlvZRS6UYooatFL8Aw"';
    const encryptedToken = createHmac("sha256", "s3cr3t").update(plainToken).digest("hex");
    const body = { event: "endpoint.url_validation", payload: { plainToken } };
    expect(signed("zoom", body)).to.deep.equal({
      outcome: "challenge",
      response: { status: 200, type: JSON_TYPE, body: JSON.stringify({ plainToken, encryptedToken }) },
    });
    expect(signed("zoom", body, "another")).to.include({ outcome: "rejected" });
  });

  it("of Discord is known by its number", () => {
    const response = { status: 200, type: JSON_TYPE, body: '{"type":1}' };
    expect(signed("discord", { type: 1 })).to.deep.equal({ outcome: "challenge", response });
    expect(signed("discord", { type: 2 })).to.include({ outcome: "verified" });
    const none = { status: 204, type: null, body: "" };
    expect(signed("discord-events", { type: 0 })).to.deep.equal({ outcome: "challenge", response: none });
    expect(signed("discord-events", { type: 1 })).to.include({ outcome: "verified" });
  });

  it("that is not signed gets its response also before there is a secret", () => {
    const text = (body: string) => ({ outcome: "challenge", response: { status: 200, type: TEXT, body } });
    const url = `${URL_OF_SOURCE}?hub.mode=subscribe&hub.challenge=115%3C&hub.verify_token=t`;
    expect(unsigned("meta", { url })).to.deep.equal(text("115<"));
    expect(unsigned("dropbox", { url: `${URL_OF_SOURCE}?challenge=abc` })).to.deep.equal(text("abc"));
    const headers = { "x-okta-verification-challenge": ["w0rd"] };
    const response = { status: 200, type: JSON_TYPE, body: '{"verification":"w0rd"}' };
    expect(unsigned("okta", { headers })).to.deep.equal({ outcome: "challenge", response });
    expect(unsigned("trello", { method: "HEAD" }).outcome).to.equal("challenge");
  });

  it("of Asana is sent back in its header, and is no secret by which anything is verified", () => {
    const headers = { "x-hook-secret": ["b537207f20cb"] };
    const response = { status: 200, type: null, headers: { "x-hook-secret": "b537207f20cb" }, body: "" };
    expect(unsigned("asana", { method: "POST", headers })).to.deep.equal({ outcome: "challenge", response });
    for (const wrong of [["a", "b"], ["a\nb"], ["a".repeat(LIMITS.challengeChars.value + 1)]]) {
      const sent = { method: "POST", headers: { "x-hook-secret": wrong } };
      expect(unsigned("asana", sent)).to.deep.equal({ outcome: "rejected", reason: "no-secret" });
    }
    const body = Buffer.from("{}");
    const signature = createHmac("sha256", "b537207f20cb").update(body).digest("hex");
    const forged = { method: "POST", body, headers: { "x-hook-signature": [signature] } };
    expect(unsigned("asana", forged)).to.include({ reason: "no-secret" });
    expect(unsigned("asana", forged, ["another"])).to.include({ reason: "mismatch" });
    expect(unsigned("asana", forged, ["b537207f20cb"])).to.include({ outcome: "verified" });
  });

  it("of CloudEvents allows to send, by OPTIONS alone, in headers that can be sent", () => {
    const headers = {
      "webhook-request-origin": ["eventemitter.example.com"],
      "webhook-request-rate": ["120"],
    };
    expect(unsigned("cloudevents", { method: "OPTIONS", headers })).to.deep.equal({
      outcome: "challenge",
      response: {
        ...{ status: 200, type: null, body: "" },
        headers: {
          allow: "POST",
          "webhook-allowed-origin": "eventemitter.example.com",
          "webhook-allowed-rate": "*",
        },
      },
    });
    for (const origin of [[], ["a", "b"], ["a\nb"], ["ü"], ["a".repeat(LIMITS.challengeChars.value + 1)]]) {
      const asked = { "webhook-request-origin": origin };
      expect(unsigned("cloudevents", { method: "OPTIONS", headers: asked }).outcome).to.equal("rejected");
    }
    expect(unsigned("cloudevents", { method: "GET", headers }).outcome).to.equal("rejected");
    expect(unsigned("okta", { method: "OPTIONS", headers }).outcome).to.equal("rejected");
    expect(signed("discord", { type: 1 }).outcome).to.equal("challenge");
  });

  it("is not one with another method, twice, or with a long value", () => {
    for (const [changes, preset] of [
      [{ url: `${URL_OF_SOURCE}?challenge=abc`, method: "POST" }, "dropbox"],
      [{ url: `${URL_OF_SOURCE}?challenge=a&challenge=b` }, "dropbox"],
      [{ url: `${URL_OF_SOURCE}?challenge=${"a".repeat(LIMITS.challengeChars.value + 1)}` }, "dropbox"],
      [{ method: "GET" }, "trello"],
      [{ method: "GET" }, "github"],
    ] as const) {
      expect(unsigned(preset, changes, ["s"]), preset).to.deep.equal({
        outcome: "rejected",
        reason: "no-signature",
      });
    }
  });
});
