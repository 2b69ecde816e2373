import { expect } from "chai";
import { accepted, fromComponent } from "../../src/ingress/response.ts";

const responseOf = (body: string | Buffer, headers: Record<string, string> = {}) =>
  fromComponent({ status: 201, headers, bodyBase64: Buffer.from(body).toString("base64") });

describe("a component's response", () => {
  it("has its status, headers and bytes, without reserved headers", () => {
    const { status, headers, body } = responseOf(Buffer.from([0xff, 0]), {
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
      "x-content-type-options": "nosniff",
    });
  });

  it("sets cookies for its own endpoint only, and none if endpoints have no host of their own", () => {
    const given = {
      status: 200,
      headers: { "set-cookie": "a=1; Path=/; Domain=example.org; HttpOnly" },
      bodyBase64: "",
    };
    expect(fromComponent(given).headers).not.to.have.property("set-cookie");
    expect(fromComponent(given, { cookiePath: "/in/x" }).headers).to.include({
      "set-cookie": "a=1; HttpOnly; Path=/in/x",
    });
  });

  it("without a content type is text if it is valid UTF-8, and has no type if it is empty", () => {
    expect(responseOf("grün").headers["content-type"]).to.equal("text/plain; charset=utf-8");
    expect(responseOf(Buffer.from([0xff])).headers["content-type"]).to.equal("application/octet-stream");
    expect(responseOf("").headers).not.to.have.property("content-type");
  });

  it("is the run's id if the component did not respond", () => {
    expect(JSON.parse(accepted("run_1").body.toString())).to.deep.equal({ run_id: "run_1" });
  });
});
