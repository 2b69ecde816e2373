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

  it("has the headers as they were sent, in lower case, but for those of the connection", async () => {
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
        connection: "keep-alive, X-Own",
        "x-own": "1",
        "keep-alive": "timeout=5",
        te: "trailers",
        "transfer-encoding": "chunked",
        "x-request-id": "7",
        "x-request-start": "t=1",
      },
    });
    expect(headers).to.deep.equal({
      "x-hub-signature": "sha1=…",
      host: "example.org",
      accept: "a, b",
      "x-forwarded-for": "1.2.3.4",
      "x-forwarded-proto": "https",
      forwarded: "for=1.2.3.4",
      "x-real-ip": "1.2.3.4",
      via: "1.1 router",
      "x-request-id": "7",
      "x-request-start": "t=1",
    });
  });

  it("has the exact bytes of a body that is not UTF-8, and only of that", async () => {
    const bytes = Buffer.from([0xff, 0, 0xc3, 0x28, 13, 10]);
    const event = await eventOf({ headers: { "content-type": "application/octet-stream" }, body: bytes });
    expect(Buffer.from(event.bodyBase64 ?? "", "base64")).to.deep.equal(bytes);
    expect(await eventOf({ body: "\ufeffü\0" })).not.to.have.property("bodyBase64");
  });

  const FORM = "application/x-www-form-urlencoded";
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

  const latin = (text: string) => Buffer.from(text, "latin1");
  const charsets: [string, string, Buffer, string, unknown][] = [
    ["a byte order mark", "application/json", Buffer.from('\ufeff{"a":1}'), '\ufeff{"a":1}', { a: 1 }],
    ["a byte order mark in text", "text/plain", Buffer.from("\ufeffa"), "\ufeffa", "a"],
    ["a byte order mark in a form", FORM, Buffer.from("\ufeffa=1"), "\ufeffa=1", { a: "1" }],
    ["ISO-8859-1", "application/json; charset=ISO-8859-1", latin('"\xe9"'), '"é"', "é"],
    ["windows-1252", 'text/plain; charset="windows-1252"', latin("\x80\x92"), "€’", "€’"],
    ["Shift_JIS", "text/plain;charset=Shift_JIS", Buffer.from([0x82, 0xa0]), "あ", "あ"],
    ["KOI8-R", "text/plain; charset=koi8-r", Buffer.from([0xc1]), "а", "а"],
    ["UTF-16", "application/json; charset=utf-16le", Buffer.from('{"a":1}', "utf16le"), '{"a":1}', { a: 1 }],
    [
      "a form in ISO-8859-1",
      `${FORM}; charset=iso-8859-1`,
      latin("n=%E9+\xe9&%e9"),
      "n=%E9+é&%e9",
      { n: "é é", é: "" },
    ],
    ["a broken type", "text/plain; charset", latin("\xe9"), "\ufffd", "\ufffd"],
    ["an unknown charset", "text/plain; charset=klingon", latin("\xe9"), "\ufffd", "\ufffd"],
    [
      "UTF-8 JSON that says ISO-8859-1",
      "application/json; charset=iso-8859-1",
      Buffer.from('"é"'),
      '"é"',
      "é",
    ],
  ];
  for (const [what, type, bytes, raw, expected] of charsets) {
    it(`is decoded by the charset of its body: ${what}`, async () => {
      const event = await eventOf({ headers: { "content-type": type }, body: bytes });
      expect([event.bodyRaw, event.body]).to.deep.equal([raw, expected]);
      const exact = event.bodyBase64 ? Buffer.from(event.bodyBase64, "base64") : Buffer.from(event.bodyRaw);
      expect(exact, "its exact bytes").to.deep.equal(bytes);
    });
  }

  const NET = 'multipart/form-data; boundary="5c1f"';
  const crlf = (...lines: string[]) => Buffer.from(lines.join("\r\n"), "latin1");
  const forms: [string, string, Buffer, unknown][] = [
    [
      "names without quotation marks",
      NET,
      crlf("--5c1f", "Content-Disposition: form-data; name=x", "", "1", "--5c1f--", ""),
      { x: "1" },
    ],
    [
      "two names of a file",
      NET,
      crlf(
        ...[
          "--5c1f",
          "Content-Type: text/csv",
          "Content-Disposition: form-data; name=f; filename=a.csv; filename*=utf-8''%C3%A9.csv",
        ],
        ...["", "1,2", "--5c1f--", ""],
      ),
      { f: { filename: "é.csv", type: "text/csv", content: "1,2" } },
    ],
    [
      "no space after a colon",
      NET,
      crlf("--5c1f", 'content-disposition:form-data;name="x"', "", "1", "--5c1f--", ""),
      { x: "1" },
    ],
    [
      "a preamble and an epilogue",
      NET,
      crlf(
        "for old readers",
        "--5c1f",
        'Content-Disposition: form-data; name="x"',
        "",
        "1",
        "--5c1f--",
        "the end",
      ),
      { x: "1" },
    ],
    [
      "a file that is not text",
      NET,
      crlf(
        ...[
          "--5c1f",
          'Content-Disposition: form-data; name="f"; filename="a.bin"',
          "Content-Type: image/png",
        ],
        ...["", "\x89PNG", "--5c1f--", ""],
      ),
      {
        f: {
          ...{ filename: "a.bin", type: "image/png", content: "\ufffdPNG" },
          contentBase64: Buffer.from("\x89PNG", "latin1").toString("base64"),
        },
      },
    ],
    [
      "two long names of a file",
      NET,
      crlf(
        "--5c1f",
        `Content-Disposition: form-data; name="f"; filename="${"a".repeat(1500)}"; filename*=utf-8''${"a".repeat(1500)}`,
        ...["", "1", "--5c1f--", ""],
      ),
      { f: { filename: "a".repeat(1500), type: "text/plain", content: "1" } },
    ],
  ];
  for (const [what, type, bytes, expected] of forms) {
    it(`has the parts of a form with ${what}`, async () => {
      expect(await parsed(type, bytes)).to.deep.equal(expected);
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
