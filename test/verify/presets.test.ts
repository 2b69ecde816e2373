import { expect } from "chai";
import { ruleFaults } from "../../src/verify/faults.ts";
import { PRESETS } from "../../src/verify/presets.ts";
import type { SignedRequest } from "../../src/verify/request-values.ts";
import { openVerification } from "../../src/verify/settings.ts";
import { type Verdict, verifyRequest } from "../../src/verify/verify-request.ts";
import { type Sent, SIGNERS, type Signer } from "./signers.ts";

const NOW = Date.parse("2026-11-28T12:00:00Z");
/** With bytes of two and three each, and what JSON parsers write in another way. */
const BODY = '{"id": "evt_1", "n": 1.0,\r\n "text": "ü\\u00fc – €" }\n';

const asRequest = ({ method, url, headers, body }: Sent): SignedRequest => ({
  method,
  url,
  headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]])),
  body,
});

/** Verifies by a preset, at the time of NOW. */
const verdictOn = (preset: string, sent: Sent, secrets: string[], nowMs = NOW): Verdict =>
  verifyRequest(
    openVerification({ preset }, secrets),
    asRequest(sent),
    nowMs,
    SIGNERS[preset]?.published ?? null,
  );

const outcome = (verdict: Verdict): string =>
  verdict.outcome === "rejected" ? verdict.reason : verdict.outcome;

/** The header that has the signature or the secret; of Mailgun it is the body. */
function signatureHeader(preset: string, sent: Sent): string | undefined {
  const names = PRESETS[preset]?.rule.signature.at.map(at => /^\{\{headers\.(.*)\}\}$/.exec(at)?.[1] ?? "");
  // The last, because that of Box is in the second.
  return names?.findLast(name => name in sent.headers);
}

const withHeader = (sent: Sent, name: string, value: string): Sent => ({
  ...sent,
  headers: { ...sent.headers, [name]: value },
});

/** Each way to change one part of what the provider signs. */
function changed(signer: Signer, sent: Sent): Sent[] {
  const { headers, body, url } = sent;
  const flipped = Buffer.from(body);
  flipped[flipped.length - 2] = (flipped[flipped.length - 2] ?? 0) ^ 1;
  const otherTime = (value: string) =>
    value.replace(/(?<=\b(?:t|ts|timestamp)=)\d|\d(?=\D*$)/, digit => `${9 - Number(digit)}`);
  const timed = Object.keys(headers).filter(
    name => name.includes("timestamp") || /\b(?:t|ts|timestamp)=\d/.test(headers[name] ?? ""),
  );
  return [
    ...(signer.covers.includes("body")
      ? [flipped, body.subarray(1), Buffer.alloc(0)].map(other => ({ ...sent, body: other }))
      : []),
    ...(signer.covers.includes("url") ? [{ ...sent, url: url.replace("abcDEF", "abcDEf") }] : []),
    ...(signer.covers.includes("query") ? [{ ...sent, url: url.replace("=1", "=2") }] : []),
    ...timed.map(name => withHeader(sent, name, otherTime(headers[name] ?? ""))),
  ];
}

describe("presets", () => {
  it("have a signer each, written apart from them", () => {
    expect(Object.keys(SIGNERS).sort()).to.deep.equal(Object.keys(PRESETS).sort());
  });

  for (const [name, preset] of Object.entries(PRESETS)) {
    const signer = SIGNERS[name] as Signer;

    describe(`the preset ${name}`, () => {
      const sent = signer.send(BODY, NOW);

      it("is a rule without a fault", () => {
        expect(ruleFaults(preset.rule)).to.deep.equal([]);
        expect(name).to.match(/^[a-z][a-z0-9-]*$/);
      });

      it("verifies what its provider signs, by any of three secrets", () => {
        expect(outcome(verdictOn(name, sent, [signer.secret]))).to.equal("verified");
        const secrets = [signer.otherSecret, "not a key", signer.secret];
        expect(outcome(verdictOn(name, sent, secrets))).to.equal("verified");
      });

      it("rejects everything without a secret, and what another secret signed", () => {
        expect(outcome(verdictOn(name, sent, []))).to.equal("no-secret");
        expect(outcome(verdictOn(name, sent, [signer.otherSecret]))).to.equal("mismatch");
        const other = signer.send(BODY, NOW, signer.otherSecret);
        expect(outcome(verdictOn(name, other, [signer.secret]))).to.equal("mismatch");
      });

      it("rejects a change of each part that is signed", () => {
        const changes = changed(signer, sent);
        expect(changes.length).to.be.at.least(signer.covers.length);
        for (const one of changes) {
          expect(outcome(verdictOn(name, one, [signer.secret])), JSON.stringify(one.headers)).not.to.equal(
            "verified",
          );
        }
      });

      it("rejects a signature that is absent, empty, cut, of another form, or sent twice", () => {
        const header = signatureHeader(name, sent);
        if (header === undefined) return;
        const { [header]: value = "", ...others } = sent.headers;
        const without = { ...sent, headers: others };
        expect(outcome(verdictOn(name, without, [signer.secret]))).to.be.oneOf(["no-signature", "mismatch"]);
        for (const wrong of [
          "",
          "x",
          value.slice(1),
          value.slice(0, -5),
          "0".repeat(16_000),
          ",".repeat(15_000),
        ]) {
          const verdict = outcome(verdictOn(name, withHeader(sent, header, wrong), [signer.secret]));
          expect(verdict, wrong.slice(0, 40)).to.be.oneOf(["malformed", "mismatch", "missing", "doubled"]);
        }
        const twice = asRequest(sent);
        twice.headers[header] = [value, value];
        expect(
          outcome(verifyRequest(openVerification({ preset: name }, [signer.secret]), twice, NOW)),
        ).to.equal("doubled");
      });

      it("verifies a body of any bytes, and none", () => {
        for (const body of ["", "a=b&c", "ü".repeat(1000)]) {
          const empty = signer.send(body, NOW);
          expect(outcome(verdictOn(name, empty, [signer.secret])), body.slice(0, 5)).to.equal("verified");
        }
      });

      if (signer.toleranceS === undefined) return;
      const { toleranceS } = signer;
      it(`rejects what is ${toleranceS} seconds from now, either way`, () => {
        const at = (seconds: number) => outcome(verdictOn(name, sent, [signer.secret], NOW + seconds * 1000));
        expect([at(toleranceS), at(-toleranceS)]).to.deep.equal(["verified", "verified"]);
        expect([at(toleranceS + 1), at(-toleranceS - 1)]).to.deep.equal(["stale", "early"]);
      });
    });
  }
});
