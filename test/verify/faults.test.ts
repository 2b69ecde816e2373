import { generateKeyPairSync } from "node:crypto";
import { expect } from "chai";
import { ruleFaults, unusableKeys } from "../../src/verify/faults.ts";
import { PRESETS } from "../../src/verify/presets.ts";
import type { VerifyRule } from "../../src/verify/schema.ts";
import { authorFaults, choiceFaults } from "../../src/verify/settings.ts";

const rule: VerifyRule = {
  scheme: "hmac",
  signature: { at: ["{{headers.x-signature}}"], encoding: "hex" },
  signs: ["{{body}}"],
};
const paths = (changes: Partial<VerifyRule>) => ruleFaults({ ...rule, ...changes }).map(({ path }) => path);
const at = (place: string) => paths({ signature: { at: [place], encoding: "hex" } });
const challenge = (verified: boolean, text: string, when: object = { at: "{{body.a}}" }) =>
  paths({ challenges: [{ when, verified, respond: { text } }] });

describe("a rule", () => {
  it("finds a signature at one place of a request", () => {
    expect(at("{{headers.x-signature}}")).to.deep.equal([]);
    expect(at('{{query["a b"]}}')).to.deep.equal([]);
    expect(at("{{body.data[0].signature}}")).to.deep.equal([]);
    for (const wrong of [
      ...[
        "x-signature",
        "{{x}}",
        "a{{body.b}}",
        "{{body.a}}{{body.b}}",
        "{{headers.X-Signature}}",
        "{{headers}}",
      ],
      ...[
        "{{body}}",
        "{{url}}",
        "{{hmac.body.a}}",
        "{{query.a.b}}",
        "{{constructor}}",
        "{{body.a",
        "{{claims.a}}",
      ],
    ]) {
      expect(at(wrong), wrong).to.deep.equal(["signature.at[0]"]);
    }
  });

  it("signs what it says where it is", () => {
    expect(paths({ signs: ["{{timestamp}}.{{id}}.{{body}}"] })).to.deep.equal(["timestamp", "id"]);
    expect(paths({ signs: ["{{signature.t}}"] })).to.deep.equal(["signs[0]"]);
    expect(paths({ signs: ["{{url.a}}"] })).to.deep.equal(["signs[0]"]);
    const timestamp: VerifyRule["timestamp"] = { at: ["{{signature.t}}"], unit: "s" };
    expect(paths({ timestamp })).to.deep.equal(["timestamp.at[0]"]);
    const signature = { ...rule.signature, items: ",", key: "v1" } as const;
    expect(paths({ timestamp, signature })).to.deep.equal([]);
  });

  it("has what its scheme needs", () => {
    const { signs: _, ...noSigns } = rule;
    expect(ruleFaults(noSigns).map(({ path }) => path)).to.deep.equal(["signs"]);
    expect(paths({ scheme: "signature" })).to.deep.equal(["algorithm"]);
    expect(paths({ scheme: "token" })).to.deep.equal(["signs"]);
    expect(paths({ jwks: { url: "https://a.example/jwks", secret_claim: "aud" } })).to.deep.equal(["jwks"]);
    const jwks = (url: string) => {
      const signature = { ...rule.signature, encoding: "text" } as const;
      return ruleFaults({ scheme: "jwks", signature, jwks: { url, secret_claim: "aud" } }).map(
        ({ path }) => path,
      );
    };
    for (const url of ["https://a.example/jwks", "http://127.0.0.1:8080/jwks", "http://[::1]/"]) {
      expect(jwks(url), url).to.deep.equal([]);
    }
    for (const url of ["http://a.example/", "http://10.0.0.1/", "https://a:b@c.example/", "file:///x", "a"]) {
      expect(jwks(url), url).to.deep.equal(["jwks.url"]);
    }
    const sns = (encoding: "base64" | "hex") =>
      ruleFaults({ scheme: "sns", signature: { at: ["{{body.Signature}}"], encoding } });
    expect(sns("base64")).to.deep.equal([]);
    expect(sns("hex").map(({ path }) => path)).to.deep.equal(["signature.encoding"]);
    expect(paths({ scheme: "jwks" })).to.deep.equal(["signs", "signature.encoding", "jwks"]);
    expect(paths({ scheme: "jwt" })).to.deep.equal(["signs", "signature.encoding"]);
    expect(paths({ key: { encoding: "pem" } })).to.deep.equal(["key.encoding"]);
    expect(
      paths({ scheme: "signature", algorithm: "ecdsa-p256", key: { encoding: "raw-hex" } }),
    ).to.deep.equal(["key.encoding"]);
  });

  it("signs nothing for a stranger", () => {
    expect(challenge(true, "{{hmac.body.a}}")).to.deep.equal([]);
    expect(challenge(false, "{{hmac.body.a}}")).to.deep.equal(["challenges[0].respond"]);
    expect(challenge(true, "{{hmac.a}}")).to.deep.equal(["challenges[0].respond"]);
    expect(challenge(true, "{{body}}")).to.deep.equal(["challenges[0].respond"]);
    expect(challenge(true, "yes", { method: "POST" })).to.deep.equal(["challenges[0].when"]);
    expect(challenge(false, "yes", { method: "HEAD" })).to.deep.equal([]);
  });
});

describe("a secret", () => {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const pem = (key = publicKey) => String(key.export({ type: "spki", format: "pem" }));
  const unusable = (preset: string, ...secrets: string[]) =>
    unusableKeys(PRESETS[preset]?.rule ?? expect.fail(), secrets);

  it("is a key of the rule's encoding", () => {
    const whsec = `whsec_${Buffer.alloc(24, 1).toString("base64")}`;
    expect(
      unusable("svix", whsec, whsec.replace("whsec_", ""), `${whsec}!`, "whsec_", "whsec_é"),
    ).to.deep.equal([2, 3, 4]);
    expect(unusable("github", "a", " ", "ü")).to.deep.equal([]);
    const topic = "arn:aws-cn:sns:cn-north-1:123456789012:orders.fifo";
    expect(unusable("amazon-sns", topic, `${topic}\n`, "orders", "arn:aws:sqs:eu-west-1:1:a")).to.deep.equal([
      1, 2, 3,
    ]);
    expect(unusable("discord", "00".repeat(32), "00".repeat(31), "zz".repeat(32))).to.deep.equal([1, 2]);
  });

  it("is a public key, of the rule's algorithm, and never a private one", () => {
    const own: VerifyRule = { ...rule, scheme: "signature", algorithm: "ed25519" };
    const secret = String(privateKey.export({ type: "pkcs8", format: "pem" }));
    const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 }).publicKey;
    const p384 = generateKeyPairSync("ec", { namedCurve: "P-384" }).publicKey;
    const keys = [pem(), pem(rsa), "-----BEGIN", secret];
    expect(unusableKeys(own, keys)).to.deep.equal([1, 2, 3]);
    expect(unusableKeys({ ...own, algorithm: "ecdsa-p256" }, [pem(), pem(p384)])).to.deep.equal([0, 1]);
  });
});

describe("a choice of a rule", () => {
  it("is a preset or a rule", () => {
    expect(choiceFaults({ preset: "stripe" })).to.deep.equal([]);
    expect(choiceFaults({ rule })).to.deep.equal([]);
    expect(choiceFaults({})).to.have.length(1);
    expect(choiceFaults({ preset: "stripe", rule })).to.have.length(1);
    expect(choiceFaults({ preset: "toString" }).map(({ path }) => path)).to.deep.equal(["preset"]);
    expect(choiceFaults({ preset: "github", tolerance: 5 }).map(({ path }) => path)).to.deep.equal([
      "tolerance",
    ]);
    const wrong = { ...rule, signs: ["{{no}}"] };
    expect(choiceFaults({ rule: wrong }).map(({ path }) => path)).to.deep.equal(["rule.signs[0]"]);
  });

  it("of an author has its schema, too", () => {
    expect(authorFaults({ preset: "github", secret: "token" })).to.deep.equal([]);
    for (const wrong of [
      null,
      "github",
      [],
      { preset: 7 },
      { preset: "github", secrets: ["in the code"] },
      { rule: {} },
    ]) {
      expect(authorFaults(wrong), JSON.stringify(wrong)).not.to.deep.equal([]);
    }
    const long = { rule: { ...rule, signs: Array(50).fill("{{body}}") } };
    expect(authorFaults(long)).to.have.length(1);
  });
});
