import { createHmac } from "node:crypto";
import { expect } from "chai";
import fc from "fast-check";
import { httpEvent, type RawRequest } from "../../src/ingress/http-event.ts";
import { AppError } from "../../src/lib/errors.ts";
import { LIMITS } from "../../src/limits/catalogue.ts";

const eventOf = (request: Partial<Omit<RawRequest, "body">> & { body?: Buffer | string }) =>
  httpEvent({
    method: "POST",
    path: "/",
    search: new URLSearchParams(),
    headers: {},
    url: "http://127.0.0.1/in/x",
    clientIp: "192.0.2.1",
    ...request,
    body: Buffer.from(request.body ?? ""),
  });

const parsed = async (type: string, body: string | Buffer) =>
  (await eventOf({ headers: { "content-type": type }, body })).body;

describe("the event of an HTTP request", () => {
  it("has the method, path, query, url and client IP of the request", async () => {
    const event = await eventOf({
      method: "PROPFIND",
      path: "/a%2Fb/ü",
      search: new URLSearchParams("a=1&b=2&b=3&empty=&=nameless"),
    });
    expect(event).to.deep.include({
      method: "PROPFIND",
      path: "/a%2Fb/ü",
      query: { a: "1", b: ["2", "3"], empty: "", "": "nameless" },
      url: "http://127.0.0.1/in/x",
      client_ip: "192.0.2.1",
    });
  });

  it("has header names in lower case, without the headers of proxies", async () => {
    const { headers } = await eventOf({
      headers: {
        "X-Hub-Signature": "sha1=…",
        host: "example.org",
        accept: ["a", "b"] as unknown as string,
        absent: undefined,
        "x-forwarded-for": "1.2.3.4",
        "X-Forwarded-Proto": "https",
        forwarded: "for=1.2.3.4",
        "x-real-ip": "1.2.3.4",
        via: "1.1 router",
        connection: "keep-alive",
        "x-request-id": "7",
      },
    });
    expect(headers).to.deep.equal({ "x-hub-signature": "sha1=…", host: "example.org", accept: "a, b" });
  });

  it("has the exact bytes of a body that is not UTF-8, and only of that", async () => {
    const bytes = Buffer.from([0xff, 0, 0xc3, 0x28, 13, 10]);
    const event = await eventOf({ headers: { "content-type": "application/octet-stream" }, body: bytes });
    expect(Buffer.from(event.bodyBase64 ?? "", "base64")).to.deep.equal(bytes);
    expect(await eventOf({ body: "\ufeffü\0" })).not.to.have.property("bodyBase64");
  });

  const bodies: [string, string | Buffer, unknown][] = [
    ["application/json", '{"a":[1,null]}', { a: [1, null] }],
    ["application/json; charset=utf-8", "7", 7],
    ["Application/JSON", '{"a":1}', { a: 1 }],
    ["application/vnd.github+json", "[]", []],
    ["application/json", '{"a":', '{"a":'],
    ["application/json", "", null],
    ["text/plain", '{"a":1}', '{"a":1}'],
    ["text/plain", "", ""],
    ["", "free text", "free text"],
    ["application/x-www-form-urlencoded", "a=1&b=2&b=3&c=%C3%BC+x", { a: "1", b: ["2", "3"], c: "ü x" }],
    ["APPLICATION/X-WWW-FORM-URLENCODED; charset=UTF-8", "a=1", { a: "1" }],
    ["application/x-www-form-urlencoded", "%zz=%", { "%zz": "%" }],
    ["multipart/form-data", "no boundary", "no boundary"],
    ["multipart/form-data; boundary=x", "--x\r\nbroken", "--x\r\nbroken"],
  ];
  for (const [type, body, expected] of bodies) {
    it(`of type "${type}" parses ${JSON.stringify(String(body))} to ${JSON.stringify(expected)}`, async () => {
      const event = await eventOf({ headers: { "content-type": type }, body });
      expect(event.body).to.deep.equal(expected);
      expect(event.bodyRaw).to.equal(String(body));
    });
  }

  it("has the fields and files of a form, and an array for a name that occurs more than once", async () => {
    const form = new FormData();
    form.append("text", "ü");
    form.append("many", "1");
    form.append("many", "2");
    form.append("file", new Blob(["content"], { type: "text/csv" }), "rows.csv");
    const response = new Response(form);
    const type = (response.headers.get("content-type") ?? "").replace("multipart", "Multipart");
    const body = Buffer.from(await response.arrayBuffer());
    expect(await parsed(type, body)).to.deep.equal({
      text: "ü",
      many: ["1", "2"],
      file: { filename: "rows.csv", type: "text/csv", content: "content" },
    });
  });

  const FORM = "application/x-www-form-urlencoded";
  const MULTIPART = "multipart/form-data; boundary=b";
  const codeOf = (type: string, body: string | Buffer) =>
    parsed(type, body).then(
      () => "accepted",
      (error: unknown) => (error instanceof AppError ? error.code : String(error)),
    );
  const part = (name: string, headers = "") =>
    `--b\r\ncontent-disposition: form-data; name="${name}"\r\n${headers}\r\n1\r\n`;
  const nested = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`;

  it("has all fields and parts of a form at its limits", async () => {
    const names = Array.from({ length: LIMITS.formFields.value }, (_, i) => i.toString(36));
    expect(Object.keys((await parsed(FORM, names.join("&"))) as object)).to.have.length(names.length);
    const parts = Array.from({ length: LIMITS.formParts.value }, (_, i) => part(`${i}`)).join("");
    expect(Object.keys((await parsed(MULTIPART, `${parts}--b--\r\n`)) as object)).to.have.length(
      LIMITS.formParts.value,
    );
    expect(await parsed("application/json", nested(LIMITS.jsonDepth.value))).to.be.an("array");
  });

  const longHeader = `x: ${"x".repeat(LIMITS.formPartHeaderBytes.value)}\r\n`;
  const beyond: [string, string, string, string][] = [
    ["one field too many", FORM, "&".repeat(LIMITS.formFields.value), "too-large"],
    ["200,000 fields", FORM, "a&".repeat(200_000), "too-large"],
    ["one part too many", MULTIPART, part("a").repeat(LIMITS.formParts.value + 1), "too-large"],
    ["10,000 parts", MULTIPART, `${part("a").repeat(10_000)}--b--\r\n`, "too-large"],
    [
      "10,000 parts behind another boundary",
      `multipart/form-data; x="boundary=c"; boundary="b"; boundary=c, multipart/form-data; boundary=c`,
      part("a").repeat(10_000),
      "too-large",
    ],
    ["long headers of a part", MULTIPART, `${part("a", longHeader)}--b--\r\n`, "too-large"],
    ["JSON one level too deep", "application/json", nested(LIMITS.jsonDepth.value + 1), "invalid"],
    ["JSON 4,180 levels deep", "application/json", `{"a":${nested(4180)}}`, "invalid"],
    ["JSON 250,000 levels deep", "text/x+json", nested(250_000), "invalid"],
  ];
  for (const [what, type, body, code] of beyond) {
    it(`is rejected for ${what}`, async () => expect(await codeOf(type, body)).to.equal(code));
  }

  it("has names such as __proto__ as plain names", async () => {
    const query = new URLSearchParams("__proto__=1&constructor=2&hasOwnProperty=3");
    const event = await eventOf({
      search: query,
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: query.toString(),
    });
    for (const pairs of [event.query, event.body as Record<string, unknown>]) {
      expect(Object.entries(pairs)).to.deep.equal([
        ["__proto__", "1"],
        ["constructor", "2"],
        ["hasOwnProperty", "3"],
      ]);
      expect(Object.getPrototypeOf(pairs)).to.equal(Object.prototype);
    }
  });

  it("has the exact text of the body, so that its HMAC is that of the sender", async () => {
    const type = fc.constantFrom("application/json", "text/plain", "application/x-www-form-urlencoded", "");
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "grapheme" }), type, async (text, contentType) => {
        const { bodyRaw } = await eventOf({ headers: { "content-type": contentType }, body: text });
        const sign = (content: string | Buffer) => createHmac("sha256", "key").update(content).digest("hex");
        expect(sign(bodyRaw)).to.equal(sign(Buffer.from(text)));
      }),
    );
  });

  it("can be converted to JSON for any body and any content type", async () => {
    const type = fc.constantFrom(
      "application/json",
      "multipart/form-data; boundary=b",
      "multipart/form-data; boundary=",
      "application/x-www-form-urlencoded",
      "json",
      "\u0000",
    );
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), type, async (bytes, contentType) => {
        const event = await eventOf({ headers: { "content-type": contentType }, body: Buffer.from(bytes) });
        expect(JSON.parse(JSON.stringify(event))).to.have.keys(Object.keys(event));
      }),
    );
  });
});
