import { createHash, createHmac, randomBytes } from "node:crypto";
import { expect } from "chai";
import fc from "fast-check";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { requestId } from "../../src/verify/request-id.ts";
import type { SignedRequest } from "../../src/verify/request-values.ts";
import type { VerifyRule } from "../../src/verify/schema.ts";
import { openVerification, type RuleChoice } from "../../src/verify/settings.ts";
import { type Verdict, verifyRequest } from "../../src/verify/verify-request.ts";
import { URL_OF_SOURCE } from "./signers.ts";

const NOW = Date.parse("2026-11-28T12:00:00Z");
const SECRET = "s3cr3t";

const request = (changes: Partial<SignedRequest> = {}): SignedRequest => ({
  method: "POST",
  url: URL_OF_SOURCE,
  headers: {},
  body: Buffer.from("{}"),
  ...changes,
});
const verdict = (choice: RuleChoice, given: SignedRequest, secrets = [SECRET]): Verdict =>
  verifyRequest(openVerification(choice, secrets), given, NOW);
const outcome = (choice: RuleChoice, given: SignedRequest, secrets = [SECRET]): string => {
  const found = verdict(choice, given, secrets);
  return found.outcome === "rejected" ? found.reason : found.outcome;
};

const hmac = (text: string | Buffer, digest = "sha256", key: string | Buffer = SECRET) =>
  createHmac(digest, key).update(text);
const github = (body: Buffer): SignedRequest =>
  request({ body, headers: { "x-hub-signature-256": [`sha256=${hmac(body).digest("hex")}`] } });

describe("a request that is verified", () => {
  it("may have a body of any bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 2000 }), bytes => {
        expect(outcome({ preset: "github" }, github(Buffer.from(bytes)))).to.equal("verified");
      }),
    );
    expect(outcome({ preset: "github" }, github(randomBytes(LIMITS.ingressBodyBytes.value)))).to.equal(
      "verified",
    );
  });

  it("is rejected with any one bit of its body changed", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 200 }), fc.nat(), (bytes, at) => {
        const sent = github(Buffer.from(bytes));
        const body = Buffer.from(bytes);
        body[at % body.length] = (body[at % body.length] ?? 0) ^ (1 << (at % 8));
        expect(outcome({ preset: "github" }, { ...sent, body })).to.equal("mismatch");
      }),
    );
  });

  it("has the time that its sender signed", () => {
    const at = NOW - 7000;
    const signature = hmac(`${at / 1000}.{}`).digest("hex");
    const sent = request({ headers: { "stripe-signature": [`t=${at / 1000},v1=${signature}`] } });
    expect(verdict({ preset: "stripe" }, sent)).to.deep.equal({ outcome: "verified", atMs: at });
    expect(verdict({ preset: "github" }, github(Buffer.from("")))).to.deep.include({ atMs: null });
  });

  it("may have several signatures, one of which fits", () => {
    const signatures = ["0".repeat(64), hmac(`${NOW / 1000}.{}`).digest("hex"), "zz"].map(one => `v1=${one}`);
    const sent = (list: string) => request({ headers: { "stripe-signature": [`t=${NOW / 1000},${list}`] } });
    expect(outcome({ preset: "stripe" }, sent(signatures.join(",")))).to.equal("verified");
    const many = [...Array(20).fill(`v1=${"0".repeat(64)}`), ...signatures];
    expect(outcome({ preset: "stripe" }, sent(many.join(",")))).to.equal("malformed");
  });

  it("may have signatures of other versions, which are passed over", () => {
    const at = NOW / 1000;
    const key = Buffer.alloc(24, 1);
    const signature = `v1,${hmac(`m1.${at}.{}`, "sha256", key).digest("base64")}`;
    const sent = (list: string) =>
      request({
        headers: { "webhook-id": ["m1"], "webhook-timestamp": [`${at}`], "webhook-signature": [list] },
      });
    const secrets = [`whsec_${key.toString("base64")}`];
    const preset = { preset: "standard-webhooks" };
    expect(outcome(preset, sent(`v1a,AAAA v1a,BBBB ${signature}`), secrets)).to.equal("verified");
    expect(outcome(preset, sent("v1a,AAAA"), secrets)).to.equal("malformed");
    expect(outcome(preset, sent(signature.replace("v1,", "v2,")), secrets)).to.equal("malformed");
  });

  it("has one time only", () => {
    const signature = hmac(`${NOW / 1000}.{}`).digest("hex");
    const header = `t=${NOW / 1000},t=1,v1=${signature}`;
    expect(outcome({ preset: "stripe" }, request({ headers: { "stripe-signature": [header] } }))).to.equal(
      "doubled",
    );
  });

  it("is rejected by a preset that this release does not have", () => {
    expect(outcome({ preset: "of-a-newer-release" }, github(Buffer.from("{}")))).to.equal("no-secret");
    expect(outcome({ preset: "constructor" }, github(Buffer.from("{}")))).to.equal("no-secret");
  });

  it("may be older where the source says so", () => {
    const at = NOW / 1000 - 60;
    const header = `ts=${at};h1=${hmac(`${at}:{}`).digest("hex")}`;
    const sent = request({ headers: { "paddle-signature": [header] } });
    expect(outcome({ preset: "paddle" }, sent)).to.equal("stale");
    expect(outcome({ preset: "paddle", tolerance: 60 }, sent)).to.equal("verified");
  });
});

describe("a request whose address is signed", () => {
  const square = (signed: string, url: string) =>
    request({ url, headers: { "x-square-hmacsha256-signature": [hmac(`${signed}{}`).digest("base64")] } });

  it("may have been registered with a slash at the end, or without", () => {
    for (const [signed, url] of [
      [`${URL_OF_SOURCE}/`, URL_OF_SOURCE],
      [URL_OF_SOURCE, `${URL_OF_SOURCE}/`],
      [`${URL_OF_SOURCE}/?a=1`, `${URL_OF_SOURCE}?a=1`],
    ] as const) {
      expect(outcome({ preset: "square" }, square(signed, url)), signed).to.equal("verified");
    }
    expect(outcome({ preset: "square" }, square(`${URL_OF_SOURCE}/a`, URL_OF_SOURCE))).to.equal("mismatch");
  });

  const twilio = (url: string, signed: string, body: string, type = "application/x-www-form-urlencoded") =>
    request({
      url,
      body: Buffer.from(body),
      headers: { "content-type": [type], "x-twilio-signature": [hmac(signed, "sha1").digest("base64")] },
    });

  it("may be that of a form, whose fields are signed sorted, each distinct value once", () => {
    const body = "To=%2B1&From=b&Digits=2&Digits=1&Digits=2&Empty=&Text=a+%C3%BC";
    const signed = `${URL_OF_SOURCE}Digits1Digits2EmptyFrombTexta üTo+1`;
    expect(outcome({ preset: "twilio" }, twilio(URL_OF_SOURCE, signed, body))).to.equal("verified");
    expect(outcome({ preset: "twilio" }, twilio(URL_OF_SOURCE, signed, `${body}&More=1`))).to.equal(
      "mismatch",
    );
  });

  it("has the hash of a body that is not a form", () => {
    const url = `${URL_OF_SOURCE}?bodySHA256=${createHash("sha256").update("{}").digest("hex")}`;
    const json = "application/json";
    expect(outcome({ preset: "twilio" }, twilio(url, url, "{}", json))).to.equal("verified");
    expect(outcome({ preset: "twilio" }, twilio(url, url, "[]", json))).to.equal("body-hash");
    // Signed for a request without a body: it must not vouch for one with a body.
    expect(outcome({ preset: "twilio" }, twilio(URL_OF_SOURCE, URL_OF_SOURCE, "", json))).to.equal(
      "verified",
    );
    expect(outcome({ preset: "twilio" }, twilio(URL_OF_SOURCE, URL_OF_SOURCE, "{}", json))).to.equal(
      "missing",
    );
  });

  it("is not sorted for thousands of fields", () => {
    const body = Array.from({ length: 2000 }, (_, n) => `f${n}=1`).join("&");
    expect(outcome({ preset: "twilio" }, twilio(URL_OF_SOURCE, URL_OF_SOURCE, body))).to.equal("missing");
  });
});

describe("a signature in the body", () => {
  const mailgun = (more: object) => {
    const timestamp = String(NOW / 1000);
    const signature = { timestamp, token: "once", signature: hmac(`${timestamp}once`).digest("hex") };
    return request({ body: Buffer.from(JSON.stringify({ signature, ...more })) });
  };

  it("is looked for in bodies that are not large only, before the sender is known", () => {
    expect(outcome({ preset: "mailgun" }, mailgun({}))).to.equal("verified");
    const large = { text: "x".repeat(LIMITS.verifyReadBytes.value) };
    expect(outcome({ preset: "mailgun" }, mailgun(large))).to.equal("no-signature");
  });

  it("is not one if the body is not JSON, or deep", () => {
    for (const body of [
      "",
      "no",
      "[".repeat(30_000),
      '{"signature":{"signature":{}}}',
      '{"signature":null}',
    ]) {
      expect(
        outcome({ preset: "mailgun" }, request({ body: Buffer.from(body) })),
        body.slice(0, 20),
      ).to.equal("no-signature");
    }
  });

  it("is not needed to read the time of a large body that is verified", () => {
    const body = Buffer.from(JSON.stringify({ webhookTimestamp: NOW, text: "x".repeat(200_000) }));
    const sent = request({ body, headers: { "linear-signature": [hmac(body).digest("hex")] } });
    expect(verdict({ preset: "linear" }, sent)).to.deep.equal({ outcome: "verified", atMs: NOW });
  });
});

describe("a token that is signed", () => {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const sha256 = createHash("sha256").update("{}").digest("hex");
  const netlify = (claims: object, head: object = { alg: "HS256" }) => {
    const text = `${part(head)}.${part(claims)}`;
    return request({ headers: { "x-webhook-signature": [`${text}.${hmac(text).digest("base64url")}`] } });
  };

  it("is one by HS256 only, of the right issuer, and not expired", () => {
    const right = { iss: "netlify", sha256 };
    expect(outcome({ preset: "netlify" }, netlify(right))).to.equal("verified");
    expect(outcome({ preset: "netlify" }, netlify({ ...right, exp: NOW / 1000 }))).to.equal("verified");
    expect(outcome({ preset: "netlify" }, netlify({ ...right, exp: NOW / 1000 - 61 }))).to.equal("claims");
    expect(outcome({ preset: "netlify" }, netlify({ ...right, nbf: NOW / 1000 + 61 }))).to.equal("claims");
    expect(outcome({ preset: "netlify" }, netlify({ ...right, exp: "soon" }))).to.equal("claims");
    expect(outcome({ preset: "netlify" }, netlify({ ...right, iss: "other" }))).to.equal("claims");
    expect(outcome({ preset: "netlify" }, netlify({ iss: "netlify" }))).to.equal("missing");
    expect(outcome({ preset: "netlify" }, netlify({ ...right, sha256: "00" }))).to.equal("body-hash");
    expect(outcome({ preset: "netlify" }, netlify(right, { alg: "none" }))).to.equal("malformed");
  });

  it("is rejected without its signature", () => {
    const unsigned = `${part({ alg: "none" })}.${part({ iss: "netlify", sha256 })}.`;
    expect(
      outcome({ preset: "netlify" }, request({ headers: { "x-webhook-signature": [unsigned] } })),
    ).to.equal("mismatch");
  });
});

describe("a rule of one's own", () => {
  const rule: VerifyRule = {
    scheme: "hmac",
    digest: "sha512",
    signature: { at: ["{{query.sig}}"], encoding: "hex" },
    signs: ["{{headers.x-a}}|", "{{query.b}}|", "{{body.n}}|{{body}}"],
    key: { encoding: "hex", strip: "key_" },
  };
  const key = "key_00ff10";
  const sign = (text: string) => hmac(text, "sha512", Buffer.from("00ff10", "hex")).digest("hex");
  const sent = (signed: string, headers: SignedRequest["headers"] = {}, query = "") =>
    request({ headers, body: Buffer.from('{"n":7}'), url: `${URL_OF_SOURCE}?sig=${sign(signed)}${query}` });

  it("signs its parts one after the other, without those that the request lacks", () => {
    const all = sent('1|2|7|{"n":7}', { "x-a": ["1"] }, "&b=2");
    expect(outcome({ rule }, all, [key])).to.equal("verified");
    expect(outcome({ rule }, sent('2|7|{"n":7}', {}, "&b=2"), [key])).to.equal("verified");
    expect(outcome({ rule }, sent('7|{"n":7}'), [key])).to.equal("verified");
    expect(outcome({ rule }, sent("1|", { "x-a": ["1"] }), [key])).to.equal("mismatch");
  });

  it("never leaves out the body, and no value of a single part", () => {
    const noN = { ...sent("|{}"), body: Buffer.from("{}") };
    expect(outcome({ rule }, noN, [key])).to.equal("missing");
    const single = { ...rule, signs: ["{{headers.x-a}}"] };
    expect(outcome({ rule: single }, sent(""), [key])).to.equal("missing");
  });

  it("rejects a signed value that was sent twice", () => {
    expect(outcome({ rule }, sent("1|", { "x-a": ["1", "2"] }), [key])).to.equal("doubled");
    expect(outcome({ rule }, sent("1|", {}, "&b=1&b=2"), [key])).to.equal("doubled");
  });
});

describe("the id of a request", () => {
  const parsed = {
    headers: { "x-github-delivery": "d-1" },
    query: {},
    body: { id: 7, event_id: "", list: ["x"] },
  };

  it("is a text or a number at one of the rule's places", () => {
    expect(requestId({ id: ["{{headers.x-github-delivery}}"] }, parsed)).to.equal("d-1");
    expect(requestId({ id: ["{{headers.absent}}", "{{body.event_id}}", "{{body.id}}"] }, parsed)).to.equal(
      "7",
    );
    expect(requestId({ id: ["{{body.list}}"] }, parsed)).to.equal(null);
    expect(requestId({ id: ["{{body.constructor.name}}"] }, parsed)).to.equal(null);
    expect(requestId({}, parsed)).to.equal(null);
    expect(requestId({ id: ["{{body.id}}"] }, { ...parsed, body: { id: "x".repeat(20_000) } })).to.equal(
      null,
    );
  });
});
