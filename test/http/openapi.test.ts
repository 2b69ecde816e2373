import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { Type } from "typebox";
import { apiPage } from "../../src/http/api-page.ts";
import { PALETTE } from "../../src/http/html-page.ts";
import { openapiDocument } from "../../src/http/openapi.ts";
import type { Json } from "../../src/http/openapi-components.ts";
import { type AnyRoute, data, routeFor } from "../../src/http/route.ts";
import { root } from "../support/built.ts";
import { type DemoServer, demoRoutes, startDemo } from "./demo-server.ts";

const options = { version: "1.2.3", serverUrl: "/v1" };

interface Operation {
  operationId: string;
  security?: unknown[];
  parameters: {
    name: string;
    in: string;
    required: boolean;
    description?: string;
    schema: Json;
    $ref?: string;
  }[];
  requestBody?: { required: boolean; content: Json };
  responses: Record<string, { content?: Record<string, { schema: Json; example?: unknown }>; $ref?: string }>;
}

/** Returns every `$ref` in a document. */
function references(node: unknown): string[] {
  if (typeof node !== "object" || node === null) return [];
  const own = "$ref" in node ? [String(node.$ref)] : [];
  return [...own, ...Object.values(node).flatMap(references)];
}

describe("http/openapi", () => {
  const document = openapiDocument(demoRoutes, options);
  const paths = document.paths as Record<string, Record<string, Operation>>;
  const operation = (method: string, path: string): Operation => {
    const found = paths[path]?.[method];
    if (!found) throw new Error(`no ${method} ${path}`);
    return found;
  };

  it("describes every route once, under its id", () => {
    const ids = Object.values(paths).flatMap(item => Object.values(item).map(one => one.operationId));
    expect(ids).to.have.members(demoRoutes.map(route => route.id));
  });

  it("has only references that resolve", () => {
    const all = references(document);
    expect(all).to.include("#/components/schemas/Thing");
    for (const reference of new Set(all)) {
      const found = reference
        .split("/")
        .slice(1)
        .reduce<unknown>((node, step) => (node as Json | undefined)?.[step], document);
      expect(found, reference).to.be.an("object");
    }
  });

  it("lists the parameters of a route: its own, the common ones and those of its path", () => {
    const names = (one: Operation) => one.parameters.map(parameter => parameter.name ?? parameter.$ref);
    expect(names(operation("get", "/things/{id}"))).to.have.members(["id", "include", "exclude", "org_id"]);
    expect(names(operation("get", "/users/me/things"))).to.include.members(["limit", "after", "before"]);
    expect(names(operation("post", "/things"))).to.include.members([
      "name",
      "#/components/parameters/IdempotencyKey",
    ]);
    expect(names(operation("get", "/live"))).to.deep.equal([]);
    const name = operation("post", "/things").parameters.find(parameter => parameter.name === "name");
    expect(name).to.include({ in: "query", required: false, example: "one" });
    expect(name?.description).to.match(/Required, here or in the body\.$/);
  });

  it("shows each response in its envelope, with an example", () => {
    const content = (one: Operation, status: string) => one.responses[status]?.content?.["application/json"];
    const thing = { $ref: "#/components/schemas/Thing" };
    expect(content(operation("post", "/things"), "201")).to.deep.equal({
      schema: { type: "object", required: ["data"], properties: { data: thing } },
      example: { data: { id: "t_one", owner: "u_ann", name: "one", size: 3 } },
    });
    expect(content(operation("get", "/users/me/things"), "200")?.schema.properties).to.deep.equal({
      page_info: { $ref: "#/components/schemas/PageInfo" },
      data: { type: "array", items: thing },
    });
    expect(operation("delete", "/things/{id}").responses["204"]?.content).to.equal(undefined);
    expect(operation("get", "/live").responses["200"]?.content).to.have.key("text/event-stream");
  });

  it("lists the errors that a route may respond with", () => {
    const statuses = (one: Operation) => Object.keys(one.responses);
    expect(statuses(operation("post", "/things"))).to.include.members([
      "400",
      "401",
      "404",
      "409",
      "413",
      "415",
      "429",
    ]);
    expect(statuses(operation("get", "/live"))).to.deep.equal(["200", "400", "408", "431", "500"]);
    expect(operation("get", "/live").security).to.deep.equal([]);
    expect(document.security).to.deep.equal([{ bearerKey: [] }, { sessionCookie: [] }]);
  });

  describe("for mistakes in the routes", () => {
    const route = routeFor<object>();
    const one = (more: Partial<AnyRoute>, title = "Odd"): AnyRoute => ({
      ...route({
        method: "POST",
        path: "/odd",
        id: "odd",
        audit: null,
        tag: "T",
        summary: "T",
        access: { kind: "owner" },
        response: data(200, Type.Object({ a: Type.Integer() }, { title })),
        handler: async () => ({ a: 1 }),
      }),
      ...more,
    });
    const documentOf =
      (...routes: AnyRoute[]) =>
      () =>
        openapiDocument(routes, options);

    it("throws for an example that does not match its schema", () => {
      expect(documentOf(one({ example: { response: { a: "1", b: 2 } } }))).to.throw(
        "a must be an integer; b is not declared",
      );
    });

    it("throws for two schemas with the same name", () => {
      const other = data(200, Type.Object({ b: Type.Integer() }, { title: "Odd" }));
      expect(documentOf(one({}), one({ path: "/other", response: other }))).to.throw(
        "two schemas are named Odd",
      );
    });

    it("throws for a query parameter with the name of a common one or of a body field", () => {
      expect(documentOf(one({ query: Type.Object({ org_id: Type.String() }) }))).to.throw(
        "org_id is already a common parameter",
      );
      const both = Type.Object({ x: Type.String() });
      expect(documentOf(one({ query: both, body: both }))).to.throw("x is both");
    });
  });
});

describe("http/api-page", () => {
  let demo: DemoServer;
  before(async () => {
    demo = await startDemo({ above: apiPage({ openapiUrl: "/v1/openapi.json" }) });
  });
  after(() => demo.close());

  it("serves a page without inline scripts or scripts from other hosts", async () => {
    const page = await demo.send({ path: "/docs/api", key: null });
    expect(page.headers["content-security-policy"]).to.match(/script-src 'self';/);
    expect(page.text).not.to.match(/https?:|<script>|\son\w+="/);
    expect(page.text).to.include('spec-url="../v1/openapi.json"');
    const sources = [...page.text.matchAll(/<script[^>]* src="([^"]+)"/g)].map(match => match[1]);
    expect(sources).to.deep.equal(["api/page.js", "api/viewer.js"]);
    const script = await demo.send({ path: `/docs/${sources[1]}`, key: null });
    expect([script.status, script.headers["content-type"]]).to.deep.equal([
      200,
      "text/javascript; charset=utf-8",
    ]);
    expect(script.text).to.include("openapi-explorer");
  });

  it("has the colours of the dashboard, its picture in the tab, and a way back to it", async () => {
    const tokens = readFileSync(join(root, "dashboard/styles/tokens.css"), "utf8");
    for (const [name, [light, dark]] of Object.entries(PALETTE))
      expect(tokens).to.include(`--${name}: light-dark(${light}, ${dark});`);
    const { text } = await demo.send({ path: "/docs/api", key: null });
    expect(text).to.include('<link rel="icon"').and.to.include('href="../dashboard"');
  });

  it("compresses assets and responds 304 to a client that has them", async () => {
    const packed = await demo.send({ path: "/docs/api/viewer.js", headers: { "accept-encoding": "gzip" } });
    expect(packed.headers["content-encoding"]).to.equal("gzip");
    const headers = { "if-none-match": String(packed.headers.etag) };
    const again = await demo.send({ path: "/docs/api/viewer.js", headers });
    expect([again.status, again.text]).to.deep.equal([304, ""]);
  });
});
