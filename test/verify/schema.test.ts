import { expect } from "chai";
import { newAjv } from "../../src/lib/schemas.ts";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { PRESETS } from "../../src/verify/presets.ts";
import { VerifyRule, VerifySettings } from "../../src/verify/schema.ts";

const isRule = newAjv({ strict: false }).compile(VerifyRule);
const isSettings = newAjv({ strict: false }).compile(VerifySettings);

const rule = {
  scheme: "hmac",
  signature: { at: ["{{headers.x-signature}}"], encoding: "hex" },
  signs: ["{{body}}"],
};

describe("the schema of a rule", () => {
  it("is that of every preset", () => {
    for (const [name, preset] of Object.entries(PRESETS)) expect(isRule(preset.rule), name).to.equal(true);
  });

  it("bounds every part, and has no others", () => {
    const text = "x".repeat(LIMITS.verifyTextChars.value);
    expect(isRule({ ...rule, signs: [text] })).to.equal(true);
    for (const wrong of [
      { ...rule, signs: [`${text}x`] },
      { ...rule, signs: Array(7).fill("{{body}}") },
      { ...rule, signs: [] },
      { ...rule, scheme: "sha256" },
      { ...rule, jwks: { url: `https://a.example/${text}`, secret_claim: "aud" } },
      { ...rule, jwks: { url: "https://a.example/" } },
      { ...rule, claims: { aud: `${text}x` } },
      { ...rule, pattern: ".*" },
      { ...rule, signature: { ...rule.signature, at: Array(4).fill("{{body.a}}") } },
      { ...rule, signature: { ...rule.signature, items: "|" } },
      { ...rule, timestamp: { at: ["{{body.t}}"], unit: "s", tolerance: 86_401 } },
      { ...rule, challenges: Array(5).fill({ when: { method: "HEAD" }, verified: false, respond: {} }) },
      { ...rule, challenges: [{ when: {}, verified: false, respond: { status: 302 } }] },
      { ...rule, claims: Object.fromEntries(Array.from({ length: 6 }, (_, n) => [`c${n}`, "x"])) },
    ]) {
      expect(isRule(wrong), JSON.stringify(wrong).slice(0, 200)).to.equal(false);
    }
  });
});

describe("the schema of a source's verification", () => {
  it("bounds its secrets", () => {
    const secret = "x".repeat(LIMITS.verifySecretChars.value);
    expect(isSettings({ preset: "github", secrets: [secret, "a", "b"] })).to.equal(true);
    for (const secrets of [[`${secret}x`], [""], ["a", "b", "c", "d"], "a", [1]]) {
      expect(isSettings({ preset: "github", secrets }), JSON.stringify(secrets).slice(0, 60)).to.equal(false);
    }
  });

  it("has no other fields", () => {
    expect(isSettings({ preset: "github", secret: "a" })).to.equal(false);
    expect(isSettings({ preset: "github", reject_with: 500 })).to.equal(false);
    expect(isSettings({ preset: "github", mode: "off" })).to.equal(false);
  });
});
