import { expect } from "chai";
import fc from "fast-check";
import { AppError } from "../../src/lib/errors.ts";
import { checkCustomHeaders } from "../../src/webhooks/custom-headers.ts";

const refusal = (headers: Record<string, string>) => {
  try {
    checkCustomHeaders(headers);
  } catch (error) {
    if (error instanceof AppError) return error.message;
    throw error;
  }
  return null;
};

describe("custom headers", () => {
  it("are kept with their names in lower case", () => {
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
    it(`may not be ${name}, which the platform or HTTP itself sets`, () => {
      expect(refusal({ [name]: "x" })).to.equal(`headers.${name}: is set by the platform`);
    });
  }

  it("name the one that is malformed, never its value", () => {
    expect(refusal({ "a b": "s3cret" })).to.equal("headers.a b: is no name of a header");
    expect(refusal({ "": "s3cret" })).to.equal("headers.: is no name of a header");
    expect(refusal({ "x-a": "s3cret\r\nx-evil: 1" })).to.equal("headers.x-a: may hold printable ASCII only");
    expect(refusal({ "x-a": "1", "X-A": "2" })).to.equal("headers.X-A: is given twice");
  });

  it("are 20 and 4 KB at most", () => {
    const many = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`x-${i}`, "1"]));
    expect(refusal(many(20))).to.equal(null);
    expect(refusal(many(21))).to.equal("headers: must be 20 at most");
    expect(refusal({ x: "v".repeat(4095) })).to.equal(null);
    expect(refusal({ x: "v".repeat(4096) })).to.match(/4096 bytes at most/);
  });

  it("are never more than tokens and printable ASCII, whatever is given", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.string()), given => {
        if (refusal(given) !== null) return;
        for (const [name, value] of Object.entries(checkCustomHeaders(given))) {
          expect(name).to.match(/^[^\s:\p{Cc}]+$/u);
          expect(value).to.match(/^[\t\x20-\x7e]*$/);
        }
      }),
    );
  });

  it("may be named like what every object has", () => {
    expect(checkCustomHeaders(JSON.parse('{"__proto__": "1"}'))).to.deep.equal(
      Object.fromEntries([["__proto__", "1"]]),
    );
  });
});
