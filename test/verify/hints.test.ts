import { createHmac } from "node:crypto";
import { expect } from "chai";
import { hintFor } from "../../src/verify/hints.ts";
import { URL_OF_SOURCE } from "./signers.ts";

const NOW = Date.parse("2026-11-28T12:00:00Z");
const KEY = Buffer.alloc(24, 7);

const request = (headers: Record<string, string>) => ({
  method: "POST",
  url: URL_OF_SOURCE,
  headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]])),
  body: Buffer.from("{}"),
});
const hint = (preset: string, secret: string, headers: Record<string, string>) =>
  hintFor({ preset }, [secret], request(headers), NOW);
const signedBy = (key: string | Buffer) => ({
  "x-hub-signature-256": `sha256=${createHmac("sha256", key).update("{}").digest("hex")}`,
});

describe("the hint for a request that was rejected", () => {
  it("is what people often get wrong with a secret", () => {
    expect(hint("github", " s3cr3t\n", signedBy("s3cr3t"))).to.match(/blanks/);
    expect(hint("github", "whsec_abc", signedBy("abc"))).to.match(/whsec_/);
    expect(hint("github", KEY.toString("base64"), signedBy(KEY))).to.match(/base64/);
    expect(hint("github", KEY.toString("hex"), signedBy(KEY))).to.match(/hex/);
    expect(hint("bearer", "token\n", { authorization: "Bearer token" })).to.match(/blanks/);
  });

  it("is none for what is forged, and for what nothing is known of", () => {
    expect(hint("github", "s3cr3t", signedBy("another"))).to.equal(null);
    expect(hint("github", "s3cr3t", {})).to.equal(null);
    expect(hint("discord", "00".repeat(32), {})).to.equal(null);
    expect(hint("of-a-newer-release", "s3cr3t", {})).to.equal(null);
  });
});
