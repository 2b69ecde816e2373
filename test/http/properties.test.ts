import { expect } from "chai";
import fc from "fast-check";
import { type FieldFilter, filterFields, rowIdCursor } from "../../src/http/common-parameters.ts";
import { type DemoServer, startDemo } from "./demo-server.ts";

describe("http, for any input,", () => {
  let demo: DemoServer;
  before(async () => {
    demo = await startDemo({ checkResponses: true });
  });
  after(() => demo.close());

  it("decodes a cursor to the id that was encoded", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: "grapheme" }), id => {
        expect(rowIdCursor.decode(rowIdCursor.encode(id))).to.equal(id);
      }),
    );
  });

  it("accepts only one cursor for each id", () => {
    fc.assert(
      fc.property(fc.string(), text => {
        const id = rowIdCursor.decode(text);
        if (id !== null) expect(rowIdCursor.encode(id)).to.equal(text);
      }),
    );
  });

  it("filters an object to the fields that are included and not excluded, unchanged", () => {
    const names = fc.constantFrom("a", "b", "c", "d", "__proto__");
    const filters = fc.record(
      {
        include: fc.array(names).map(list => new Set(list)),
        exclude: fc.array(names).map(list => new Set(list)),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.dictionary(names, fc.jsonValue()), filters, (value, filter: FieldFilter) => {
        const filtered = filterFields(value, filter);
        const expected = Object.keys(value).filter(
          name => (!filter.include || filter.include.has(name)) && !filter.exclude?.has(name),
        );
        expect(Object.keys(filtered)).to.have.members(expected);
        for (const name of expected) expect(filtered[name]).to.equal(value[name]);
      }),
    );
  });

  it("treats a parameter in the query string and in the body alike, but the query string wins", async () => {
    const locations = fc.constantFrom("query", "body", "both");
    const name = fc.stringMatching(/^[A-Za-z0-9 &=+%ä-]{1,20}$/);
    await fc.assert(
      fc.asyncProperty(name, fc.nat(), locations, locations, async (text, size, nameAt, sizeAt) => {
        const query = new URLSearchParams({
          ...(nameAt !== "body" && { name: text }),
          ...(sizeAt !== "body" && { size: String(size) }),
        });
        const inBody = (location: string, value: unknown, other: unknown) =>
          location === "query" ? undefined : location === "body" ? value : other;
        const body = { name: inBody(nameAt, text, "other"), size: inBody(sizeAt, size, size + 1) };
        const response = await demo.send({ method: "POST", path: `/v1/things?${query}`, body });
        expect(response.json).to.deep.equal({ data: { id: "t_new", owner: "u_ann", name: text, size } });
      }),
      { numRuns: 60 },
    );
  });

  it("never responds with a 5xx", async () => {
    const pathPart = fc.oneof(
      fc.constantFrom(
        "v1",
        "things",
        "t_one",
        "users",
        "me",
        "orgs",
        "o_red",
        "$errors",
        "%24errors",
        "..",
        "",
        "%",
      ),
      fc.string().map(encodeURIComponent),
      fc.stringMatching(/^[!-"$->@-~]{0,12}$/),
    );
    const path = fc.oneof(
      fc.constantFrom(
        "/v1/things",
        "/v1/things/t_one",
        "/v1/users/me/things",
        "/v1/things/t_one/$errors/events",
      ),
      fc.array(pathPart, { maxLength: 5 }).map(parts => `/${parts.join("/")}`),
    );
    const parameter = fc.constantFrom(
      "name",
      "size",
      "limit",
      "after",
      "before",
      "include",
      "exclude",
      "org_id",
      "x",
    );
    const query = fc.oneof(
      fc
        .array(fc.tuple(parameter, fc.string({ unit: "binary" })), { maxLength: 4 })
        .map(pairs => pairs.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&")),
      fc.stringMatching(/^[!-"$-~]{0,30}$/),
    );
    const body = fc.oneof(
      fc.constant(undefined),
      fc.jsonValue({ maxDepth: 4 }),
      fc.dictionary(
        fc.oneof(parameter, fc.constantFrom("props", "shape", "color", "__proto__")),
        fc.jsonValue(),
      ),
      fc.string(),
      fc.uint8Array({ maxLength: 40 }).map(bytes => Buffer.from(bytes)),
    );
    const method = fc.constantFrom("GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS");
    await fc.assert(
      fc.asyncProperty(method, path, query, body, async (verb, anyPath, anyQuery, anyBody) => {
        const request = { method: verb, path: `${anyPath}?${anyQuery}`, body: anyBody };
        const response = await demo.send(request);
        expect(response.status).to.be.lessThan(500);
        expect(response.headers["x-request-id"]).to.match(/./);
        if (response.status >= 400 && verb !== "HEAD") {
          expect(response.json).to.include.keys("type", "title", "status", "detail", "error");
        }
      }),
      { numRuns: 400 },
    );
  });
});
