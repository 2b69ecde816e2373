import { expect } from "chai";
import fc from "fast-check";
import { AppError } from "../../src/lib/errors.ts";
import { checkCustomHeaders } from "../../src/webhooks/custom-headers.ts";

const errorOf = (headers: Record<string, string>) => {
  try {
    checkCustomHeaders(headers);
  } catch (error) {
    if (error instanceof AppError) return error.message;
    throw error;
  }
  return null;
};

describe("custom headers", () => {
  it("are returned with their names in lower case", () => {
    expect(checkCustomHeaders({ "X-Api-Key": " abc ", authorization: "Bearer x" })).to.deep.equal({
      "x-api-key": "abc",
      authorization: "Bearer x",
    });
  });

  for (const name of [
    "Host",
    "content-length",
    "Content-Type",
    "user-agent",
    "connection",
    "transfer-encoding",
    "webhook-id",
    "Webhook-Signature",
    "x-pd-signature",
    "X-Headwater-Anything",
    "proxy-authorization",
    "expect",
  ]) {
    it(`may not be ${name}, which is reserved`, () => {
      expect(errorOf({ [name]: "x" })).to.equal(`headers.${name}: is reserved for the platform`);
    });
  }

  it("are rejected by name if malformed, without showing the value", () => {
    expect(errorOf({ "a b": "s3cret" })).to.equal("headers.a b: is not a valid header name");
    expect(errorOf({ "": "s3cret" })).to.equal("headers.: is not a valid header name");
    expect(errorOf({ "x-a": "s3cret\r\nx-evil: 1" })).to.equal(
      "headers.x-a: must contain only printable ASCII characters",
    );
    expect(errorOf({ "x-a": "1", "X-A": "2" })).to.equal("headers.X-A: is given twice");
  });

  it("are limited to 20 and to 4 KB in total", () => {
    const many = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`x-${i}`, "1"]));
    expect(errorOf(many(20))).to.equal(null);
    expect(errorOf(many(21))).to.equal("headers: must have at most 20 entries");
    expect(errorOf({ x: "v".repeat(4095) })).to.equal(null);
    expect(errorOf({ x: "v".repeat(4096) })).to.match(/at most 4096 bytes/);
  });

  it("contain only tokens and printable ASCII, whatever the input is", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.string()), given => {
        if (errorOf(given) !== null) return;
        for (const [name, value] of Object.entries(checkCustomHeaders(given))) {
          expect(name).to.match(/^[^\s:\p{Cc}]+$/u);
          expect(value).to.match(/^[\t\x20-\x7e]*$/);
        }
      }),
    );
  });

  it("may have a name such as __proto__", () => {
    expect(checkCustomHeaders(JSON.parse('{"__proto__": "1"}'))).to.deep.equal(
      Object.fromEntries([["__proto__", "1"]]),
    );
  });
});
