import { gzipSync } from "node:zlib";
import { expect } from "chai";
import { type DemoServer, startDemo } from "./demo-server.ts";

describe("http/read-input", () => {
  let demo: DemoServer;
  before(async () => {
    demo = await startDemo({ maxBodyBytes: 10_000 });
  });
  after(() => demo.close());

  const create = (path: string, body?: unknown, headers?: Record<string, string>) =>
    demo.send({ method: "POST", path, ...(body !== undefined && { body }), ...(headers && { headers }) });
  const lastCall = () => demo.deps.calls.at(-1);

  it("converts query parameters to their declared types", async () => {
    const response = await create("/v1/things?name=42&size=7&loud=true");
    expect(response.json).to.deep.equal({ data: { id: "t_new", owner: "u_ann", name: "42", size: 7 } });
    expect(lastCall()).to.deep.equal({ query: { name: "42", size: 7, loud: true }, body: {} });
  });

  it("accepts query parameters in the body, but the query string wins", async () => {
    await create("/v1/things?size=7", { name: "box", size: 9, props: { a: [1] } });
    expect(lastCall()).to.deep.equal({ query: { name: "box", size: 7 }, body: { props: { a: [1] } } });
    await create("/v1/things", { name: "box", size: null, loud: "false" });
    expect(lastCall()).to.deep.equal({ query: { name: "box", size: null, loud: false }, body: {} });
  });

  it("accepts query parameters in the body of a DELETE", async () => {
    const path = "/v1/things/t_one/$errors/events";
    expect((await demo.send({ method: "DELETE", path, body: { start_id: "1-0" } })).status).to.equal(202);
    expect(lastCall()).to.deep.equal({ start_id: "1-0" });
  });

  it("does not convert the types of body fields", async () => {
    const response = await demo.send({
      method: "PUT",
      path: "/v1/things/t_one",
      body: { size: "7", loud: 1 },
    });
    expect(response.status).to.equal(400);
    expect(response.json.errors).to.deep.equal([
      { in: "body", path: "size", message: "must be an integer" },
      { in: "body", path: "loud", message: "must be a boolean" },
    ]);
  });

  it("fills in declared defaults", async () => {
    await demo.send({ method: "PUT", path: "/v1/things/t_one", body: { size: 1 } });
    expect(lastCall()).to.deep.equal({ size: 1, loud: true });
  });

  it("lists everything that is wrong at once", async () => {
    const body = { size: -1, shape: { sides: "3", corners: 3 }, color: "green", sice: 3 };
    const response = await create("/v1/things?include=id,nmae&exclude=sise&wrong=1", body);
    expect(response.status).to.equal(400);
    expect(response.headers["content-type"]).to.match(/^application\/problem\+json/);
    expect(response.json.errors).to.have.deep.members([
      { in: "query", path: "name", message: "is required" },
      { in: "query", path: "wrong", message: "is not a known parameter" },
      { in: "body", path: "size", message: "must be an integer or null" },
      { in: "body", path: "sice", message: "is not a known field" },
      { in: "body", path: "shape.sides", message: "must be an integer" },
      { in: "body", path: "shape.corners", message: "is not a known field" },
      { in: "body", path: "color", message: "must be one of red, blue" },
      { in: "query", path: "include", message: "nmae is not a field of the response" },
      { in: "query", path: "exclude", message: "sise is not a field of the response" },
    ]);
    expect(response.json.detail).to.match(/; and 6 more$/);
    expect(response.json.error).to.equal(response.json.detail);
  });

  it("rejects a parameter that is given twice", async () => {
    const response = await create("/v1/things?name=a&name=b");
    expect(response.json.errors).to.deep.equal([
      { in: "query", path: "name", message: "is given more than once" },
    ]);
  });

  it("rejects a query string that is not valid UTF-8, and a value with NUL", async () => {
    expect((await create("/v1/things?name=%c3%28")).status).to.equal(400);
    expect((await create("/v1/things?name=%")).status).to.equal(400);
    expect((await create("/v1/things?name=a%00b")).status).to.equal(400);
  });

  it("accepts an empty body with a JSON content type", async () => {
    const headers = { "content-type": "application/json" };
    expect((await create("/v1/things?name=a", "", headers)).status).to.equal(201);
    expect((await create("/v1/things?name=a", undefined, headers)).status).to.equal(201);
    const chunked = { ...headers, "transfer-encoding": "chunked" };
    expect(
      (await demo.send({ method: "POST", path: "/v1/things?name=a", headers: chunked })).status,
    ).to.equal(201);
  });

  it("rejects a body whose content type is not JSON with 415", async () => {
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "application/jsonp", "x"]) {
      const response = await create("/v1/things?name=a", "{}", { "content-type": type });
      expect([response.status, response.json.title], type).to.deep.equal([415, "Unsupported media type"]);
    }
    const odd = { "content-encoding": "compress" };
    expect((await create("/v1/things?name=a", "{}", odd)).status).to.equal(415);
  });

  it("accepts JSON with a charset, and compressed JSON", async () => {
    const typed = { "content-type": "application/json; charset=utf-8" };
    expect((await create("/v1/things", '{"name":"ä"}', typed)).json.data.name).to.equal("ä");
    const packed = gzipSync('{"name":"packed"}');
    const response = await create("/v1/things", packed, { "content-encoding": "gzip" });
    expect(response.json.data.name).to.equal("packed");
  });

  it("rejects a body that is not a JSON object with 400", async () => {
    const texts = ["{", "[]", "1", '"a"', "null", " ", "{'a':1}", '{"name":"a"}x', "[[1]]"];
    for (const text of texts) {
      const response = await create("/v1/things?name=a", text);
      expect([response.status, response.json.errors?.[0].in], text).to.deep.equal([400, "body"]);
    }
    expect((await create("/v1/things?name=a", "junk", { "content-encoding": "gzip" })).status).to.equal(400);
  });

  it("says of a body that is JSON what it must be, and of which keys it must be free", async () => {
    for (const text of ["null", '"a"', " 5", "true", "[[1]]", "["]) {
      const { json } = await create("/v1/things", text);
      const message =
        text === "[" ? "is not complete JSON: it ends at line 1, column 2" : "must be a JSON object";
      expect(json.errors[0].message, text).to.equal(message);
    }
    const { json } = await create("/v1/things", '{"__proto__":{}}');
    expect(json.errors[0].message).to.equal("must be a JSON object without keys such as __proto__");
  });

  it("says where a body stops being JSON, without quoting it", async () => {
    for (const [body, message] of [
      ['{"name": "box",\n  size: 1}', "is not JSON: line 2, column 3"],
      ['{"name": "secret"', "is not complete JSON: it ends at line 1, column 18"],
    ]) {
      const { status, json } = await create("/v1/things", body);
      expect(status).to.equal(400);
      expect(json.errors).to.deep.equal([{ in: "body", path: "", message }]);
    }
  });

  it("names the body as the place of a parameter that was given there", async () => {
    const { json } = await create("/v1/things?loud=maybe", { size: "many", include: "nothing", name: 1 });
    expect(
      json.errors.map((error: { in: string; path: string }) => `${error.in} ${error.path}`),
    ).to.have.members(["query loud", "body size", "body include", "body name"]);
  });

  it("rejects a body larger than the limit with 413, compressed or not", async () => {
    const big = JSON.stringify({ name: "a", props: { text: "x".repeat(20_000) } });
    expect((await create("/v1/things", big)).status).to.equal(413);
    expect((await create("/v1/things", gzipSync(big), { "content-encoding": "gzip" })).status).to.equal(413);
  });

  it("rejects nesting that would overflow the stack, and keys that no store accepts", async () => {
    const deep = `{"props":${'{"a":'.repeat(1500)}1${"}".repeat(1500)}}`;
    const response = await create("/v1/things?name=a", deep);
    expect([response.status, response.json.detail]).to.deep.equal([
      400,
      "the body is nested deeper than 50 levels",
    ]);
    expect((await create("/v1/things?name=a", { props: { "a\0b": 1 } })).status).to.equal(400);
  });

  it("never lets a key change a prototype", async () => {
    const texts = [
      '{"__proto__":{"polluted":1}}',
      '{"props":{"__proto__":{"polluted":1}}}',
      '{"constructor":1}',
    ];
    for (const text of texts) expect((await create("/v1/things?name=a", text)).status, text).to.equal(400);
    for (const name of ["__proto__", "constructor", "toString"]) {
      expect((await create(`/v1/things?name=a&${name}=1`)).status, name).to.equal(400);
    }
    expect(({} as { polluted?: number }).polluted).to.equal(undefined);
  });
});
