import { expect } from "chai";
import { AppError } from "../../src/lib/errors.ts";
import { checkWebhookUrl } from "../../src/webhooks/check-webhook-url.ts";

const errorOf = (url: string, egressAllow: string[] = []) => {
  try {
    checkWebhookUrl({ egressAllow }, "query", url);
  } catch (error) {
    if (error instanceof AppError && error.code === "invalid") return error.fields[0];
    throw error;
  }
  return null;
};

describe("the url of a webhook", () => {
  for (const url of [
    "https://example.com",
    "http://example.com:8080/a/b?c=d",
    "HTTPS://EXAMPLE.com/",
    "http://93.184.215.14/",
    "http://[2606:2800:21f:cb07::1]/",
  ]) {
    it(`may be ${url}`, () => {
      expect(errorOf(url)).to.equal(null);
    });
  }

  for (const url of [
    "example.com",
    "ftp://example.com",
    "javascript:alert(1)",
    "http:example.com",
    "https://",
    "https://user:pass@example.com",
    "//example.com",
    "",
  ]) {
    it(`may not be "${url}"`, () => {
      expect(errorOf(url)).to.include({ in: "query", path: "url" });
    });
  }

  for (const url of [
    "http://127.0.0.1/",
    "http://2130706433/",
    "http://0x7f.1/",
    "http://10.1.2.3:9000/",
    "http://169.254.169.254/latest/meta-data",
    "http://[::1]/",
    "http://[::ffff:10.0.0.1]/",
    "http://localhost:3000/",
    "http://api.localhost/",
  ]) {
    it(`may not be ${url}, which is not public`, () => {
      expect(errorOf(url)?.message).to.match(/is not a public address/);
    });
  }

  it("may be a private address that EGRESS_ALLOW lists", () => {
    expect(errorOf("http://127.0.0.1:9/", ["127.0.0.0/8"])).to.equal(null);
    expect(errorOf("http://localhost:9/", ["127.0.0.0/8"])).to.equal(null);
    expect(errorOf("http://10.0.0.1/", ["127.0.0.0/8"])?.message).to.match(/not a public/);
  });
});
