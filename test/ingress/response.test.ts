import { expect } from "chai";
import { answered, taken } from "../../src/ingress/response.ts";

const of = (body: string | Buffer, headers: Record<string, string> = {}) =>
  answered({ status: 201, headers, bodyBase64: Buffer.from(body).toString("base64") });

describe("a component's response", () => {
  it("keeps its status, headers and bytes, without those headers that are ours", () => {
    const { status, headers, body } = of(Buffer.from([0xff, 0]), {
      "X-Own": "1",
      "Content-Type": "image/png",
      "Transfer-Encoding": "chunked",
      "Content-Length": "99",
      "Content-Security-Policy": "default-src *",
    });
    expect(status).to.equal(201);
    expect([...body]).to.deep.equal([0xff, 0]);
    expect(headers).to.deep.equal({
      "X-Own": "1",
      "Content-Type": "image/png",
      "content-security-policy": "sandbox",
    });
  });

  it("without a type is text where its bytes are text, and has none where it is empty", () => {
    expect(of("grün").headers["content-type"]).to.equal("text/plain; charset=utf-8");
    expect(of(Buffer.from([0xff])).headers["content-type"]).to.equal("application/octet-stream");
    expect(of("").headers).not.to.have.property("content-type");
  });

  it("is the run's id where the component said nothing", () => {
    expect(JSON.parse(taken("run_1").body.toString())).to.deep.equal({ run_id: "run_1" });
  });
});
