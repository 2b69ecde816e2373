import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { expect } from "chai";
import { exportJWK, SignJWT } from "jose";
import type { SignedRequest } from "../../src/verify/request-values.ts";
import { RequestValues } from "../../src/verify/request-values.ts";
import type { VerifyRule } from "../../src/verify/schema.ts";
import { openVerification } from "../../src/verify/settings.ts";
import { soughtKey } from "../../src/verify/sought-key.ts";
import { readKeySet } from "../../src/verify/tokens.ts";
import { verifyRequest } from "../../src/verify/verify-request.ts";
import { URL_OF_SOURCE } from "./signers.ts";

const NOW = Date.parse("2026-11-28T12:00:00Z");
const RULE: VerifyRule = {
  scheme: "jwks",
  signature: { at: ["{{headers.authorization}}"], prefix: "Bearer ", encoding: "text" },
  jwks: { url: "https://issuer.example/keys", secret_claim: "aud" },
  claims: { iss: "https://issuer.example" },
};
const AUDIENCE = "our application";

/** A pair of each algorithm that jose signs with here, independently of src/verify. */
const PAIRS = {
  RS256: generateKeyPairSync("rsa", { modulusLength: 2048 }),
  ES256: generateKeyPairSync("ec", { namedCurve: "P-256" }),
  EdDSA: generateKeyPairSync("ed25519"),
};
type Algorithm = keyof typeof PAIRS;

const jwk = async (key: KeyObject, more: object = {}) => ({ ...(await exportJWK(key)), ...more });
const setOf = async (kids: Partial<Record<Algorithm, string>>) =>
  JSON.stringify({
    keys: await Promise.all(
      Object.entries(kids).map(([alg, kid]) => jwk(PAIRS[alg as Algorithm].publicKey, { kid })),
    ),
  });

interface Given {
  alg?: string;
  kid?: string;
  key?: KeyObject | Uint8Array;
  claims?: object;
}
function token({ alg = "RS256", kid = "k1", key, claims = {} }: Given = {}): Promise<string> {
  const all = { iss: "https://issuer.example", aud: AUDIENCE, exp: NOW / 1000 + 60, ...claims };
  const signing = key ?? PAIRS[alg as Algorithm].privateKey;
  return new SignJWT(all).setProtectedHeader({ alg, ...(kid !== "" && { kid }) }).sign(signing);
}

const request = (text: string): SignedRequest => ({
  method: "POST",
  url: URL_OF_SOURCE,
  headers: { authorization: [`Bearer ${text}`] },
  body: Buffer.from("{}"),
});
const seek = (text: string, rule = RULE) =>
  soughtKey(openVerification({ rule }, [AUDIENCE]), new RequestValues(request(text)));
/** Verifies by the key of this set that the token names. */
function outcome(text: string, set: string, rule = RULE): string {
  const sought = seek(text, rule);
  const published = sought?.read(set).get(sought.name) ?? null;
  const verdict = verifyRequest(openVerification({ rule }, [AUDIENCE]), request(text), NOW, published);
  return verdict.outcome === "rejected" ? verdict.reason : verdict.outcome;
}

describe("a token by published keys", () => {
  it("is verified by each algorithm with the key that it names, which jose has made", async () => {
    const set = await setOf({ RS256: "k1", ES256: "k2", EdDSA: "k3" });
    for (const [alg, kid] of [
      ["RS256", "k1"],
      ["ES256", "k2"],
      ["EdDSA", "k3"],
    ]) {
      expect(outcome(await token({ alg, kid }), set), alg).to.equal("verified");
    }
    expect(seek(await token())).to.include({ url: "https://issuer.example/keys", name: "RS256 k1" });
  });

  it("needs no name where its sender has one key of the algorithm", async () => {
    const nameless = await token({ kid: "" });
    expect(outcome(nameless, await setOf({ RS256: "k1", ES256: "k2" }))).to.equal("verified");
    const two = { keys: [await jwk(PAIRS.RS256.publicKey), await jwk(PAIRS.RS256.publicKey, { kid: "k2" })] };
    two.keys[0] = { ...two.keys[0], kid: "k1" };
    expect(outcome(nameless, JSON.stringify(two))).to.equal("no-key");
  });

  it("is not verified by a key that is not published, or published for something else", async () => {
    const right = await token();
    expect(outcome(right, await setOf({ RS256: "k9" }))).to.equal("no-key");
    expect(outcome(right, await setOf({ ES256: "k1" }))).to.equal("no-key");
    const { publicKey } = PAIRS.RS256;
    for (const more of [{ use: "enc" }, { alg: "RS512" }, { kid: 1 }]) {
      const set = JSON.stringify({ keys: [await jwk(publicKey, { kid: "k1", ...more })] });
      expect(outcome(right, set), JSON.stringify(more)).to.equal("no-key");
    }
    const other = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const forged = await token({ key: other.privateKey });
    expect(outcome(forged, await setOf({ RS256: "k1" }))).to.equal("mismatch");
  });

  it("is no way to choose the algorithm: none, a shared secret, or that of another key", async () => {
    const set = await setOf({ RS256: "k1", ES256: "k2" });
    const pem = String(PAIRS.RS256.publicKey.export({ type: "spki", format: "pem" }));
    const confused = await token({ alg: "HS256", key: Buffer.from(pem) });
    expect([seek(confused), outcome(confused, set)]).to.deep.equal([null, "malformed"]);
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const claims = part({ iss: "https://issuer.example", aud: AUDIENCE, exp: NOW / 1000 + 60 });
    for (const alg of ["none", "__proto__", "RS1", undefined]) {
      const unsigned = `${part({ alg, kid: "k1" })}.${claims}.`;
      expect(outcome(unsigned, set), alg).to.equal("malformed");
    }
    const [, body, signature] = (await token()).split(".");
    expect(outcome(`${part({ alg: "ES256", kid: "k2" })}.${body}.${signature}`, set)).to.equal("mismatch");
  });

  it("has the claims that its rule and its secrets say, and ends", async () => {
    const set = await setOf({ RS256: "k1" });
    const by = async (claims: object, rule = RULE) => outcome(await token({ claims }), set, rule);
    expect(await by({ aud: ["another", AUDIENCE] })).to.equal("verified");
    expect(await by({ aud: "another" })).to.equal("mismatch");
    expect(await by({ aud: undefined })).to.equal("mismatch");
    expect(await by({ iss: "https://another.example" })).to.equal("claims");
    expect(await by({ exp: NOW / 1000 - 120 })).to.equal("claims");
    expect(await by({ exp: undefined })).to.equal("claims");
    expect(await by({ nbf: NOW / 1000 + 120 })).to.equal("claims");
    const forUs: VerifyRule = { ...RULE, claims: { dest: "{{url}}", ok: "true" } };
    expect(await by({ dest: URL_OF_SOURCE, ok: true }, forUs)).to.equal("verified");
    expect(await by({ dest: `${URL_OF_SOURCE}/`, ok: "true" }, forUs)).to.equal("verified");
    expect(await by({ dest: `${URL_OF_SOURCE}x`, ok: true }, forUs)).to.equal("claims");
    expect(await by({ dest: URL_OF_SOURCE, ok: false }, forUs)).to.equal("claims");
  });

  it("asks for no key where nothing could be verified with it", () => {
    for (const text of ["", "a.b", "a.b.c.d", "…", `${"a".repeat(5000)}.b.c`])
      expect(seek(text)).to.equal(null);
    const unset = openVerification({ rule: RULE }, []);
    expect(soughtKey(unset, new RequestValues(request("a.b.c")))).to.equal(null);
    const others = openVerification({ preset: "github" }, ["s3cr3t"]);
    expect(soughtKey(others, new RequestValues(request("a.b.c")))).to.equal(null);
  });
});

describe("a set of published keys", () => {
  it("has at most a hundred that are for signatures and strong enough", async () => {
    const weak = generateKeyPairSync("rsa", { modulusLength: 1024 }).publicKey;
    const p384 = generateKeyPairSync("ec", { namedCurve: "P-384" }).publicKey;
    const keys = [
      ...[
        await jwk(weak, { kid: "weak" }),
        await jwk(p384, { kid: "p384" }),
        null,
        "key",
        { kty: "oct", k: "AA" },
      ],
      ...[{ kty: "RSA", n: "!", e: "AQAB" }, await jwk(PAIRS.EdDSA.publicKey, { kid: "right" })],
    ];
    expect([...readKeySet(JSON.stringify({ keys })).keys()]).to.deep.equal(["EdDSA ", "EdDSA right"]);
    const many = await Promise.all(
      Array.from({ length: 150 }, (_, n) => jwk(PAIRS.EdDSA.publicKey, { kid: `k${n}` })),
    );
    expect(readKeySet(JSON.stringify({ keys: many })).size).to.equal(100);
  });

  it("is JSON with keys", () => {
    for (const text of ["", "{}", "[]", '{"keys":{}}', "null", "<html>"]) {
      expect(() => readKeySet(text), text).to.throw();
    }
  });
});
