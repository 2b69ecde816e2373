import { readFileSync } from "node:fs";
import { Validator } from "@seriousme/openapi-schema-validator";
import { expect } from "chai";
import { routes } from "../../src/app.ts";
import { document, faultsOf, operationOf, responseOf } from "./document.ts";
import { openOwner, openWorld } from "./open-world.ts";
import { exampleRequest, send } from "./requests.ts";
import type { Owner } from "./things.ts";

const committed = new URL("../../openapi.json", import.meta.url);

describe("the OpenAPI document", () => {
  it("is committed as the routes declare it", () => {
    const isSame = readFileSync(committed, "utf8") === `${JSON.stringify(document, null, 2)}\n`;
    expect(isSame, "openapi.json is out of date: run npm run openapi and commit it").to.equal(true);
  });

  it("is OpenAPI 3.1", async () => {
    const validator = new Validator();
    const { valid, errors } = await validator.validate(structuredClone(document));
    expect(errors ?? []).to.deep.equal([]);
    expect([valid, validator.version]).to.deep.equal([true, "3.1"]);
  });

  // Generators of clients type only what the document declares (docs/decisions/0018-walls-of-the-api.md).
  it("declares every field that a body may have, the query parameters too", () => {
    for (const route of routes.filter(({ method }) => method === "POST" || method === "PUT")) {
      const { parameters, requestBody } = operationOf(route);
      const schema = requestBody?.content["application/json"]?.schema as { properties: object } | undefined;
      const query = parameters.filter(one => one.in === "query");
      expect(schema?.properties, route.id).to.include.all.keys(
        ...query.map(({ name = "" }) => name),
        ...Object.keys(route.body?.properties ?? {}),
      );
      const required = query.filter(one => one.required).map(({ name }) => name);
      expect(required, `${route.id}: may be in the body`).to.deep.equal([]);
    }
    expect(JSON.stringify(document), "not understood by generators").not.to.include("patternProperties");
  });

  it("requires one of the fields that name a component", () => {
    const schemaOf = (id: string) => {
      const route = routes.find(one => one.id === id);
      return route && operationOf(route).requestBody?.content["application/json"]?.schema;
    };
    const oneOf = (...fields: string[]) => ({ anyOf: fields.map(field => ({ required: [field] })) });
    expect(schemaOf("createComponent")).to.deep.include(oneOf("component_code", "files", "component_url"));
    expect(schemaOf("createSource")).to.deep.include(
      oneOf("component_id", "key", "component_code", "files", "component_url"),
    );
  });

  it("links operations to those that take the id from their response", () => {
    const ids = new Set(routes.map(({ id }) => id));
    const linksOf = (id: string) => {
      const route = routes.find(one => one.id === id);
      const response = route && responseOf(route, route.response.status);
      return (response as { links?: Record<string, { operationId: string; parameters: object }> })?.links;
    };
    for (const { id } of routes) {
      for (const { operationId } of Object.values(linksOf(id) ?? {})) expect(ids).to.include(operationId);
    }
    const id = "$response.body#/data/id";
    expect(linksOf("createSource")).to.deep.include({
      getSource: { operationId: "getSource", parameters: { id } },
      deleteSourceEvents: { operationId: "deleteSourceEvents", parameters: { id } },
      createSubscription: { operationId: "createSubscription", parameters: { emitter_id: id } },
    });
    expect(linksOf("createWebhook")).to.deep.include({
      listDeliveries: { operationId: "listDeliveries", parameters: { id } },
      createSubscription: { operationId: "createSubscription", parameters: { listener_id: id } },
    });
  });

  it("describes the headers of rate limits and conflicts", () => {
    const { responses } = document.components;
    const headersOf = (code: string) => Object.keys(responses[code]?.headers ?? {});
    const rateLimit = ["RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "RateLimit-Policy"];
    expect(headersOf("rate-limited")).to.have.members(["X-Request-Id", "Retry-After", ...rateLimit]);
    expect(headersOf("conflict")).to.have.members(["X-Request-Id", "Retry-After", ...rateLimit]);
    const me = routes.find(({ id }) => id === "getCurrentUser");
    expect(Object.keys((me && responseOf(me, 200))?.headers ?? {})).to.include.members(rateLimit);
  });

  for (const route of routes) {
    it(`has examples for the request and the response of ${route.method} ${route.path}`, () => {
      const { parameters, requestBody } = operationOf(route);
      const missing = parameters.filter(({ required, example }) => required && example === undefined);
      expect(missing.map(({ name }) => `add example for parameter ${name}`)).to.deep.equal([]);
      const body = requestBody?.content["application/json"];
      if (requestBody?.required) expect(body, "add example.body").to.have.property("example");
      const response = responseOf(route, route.response.status)?.content?.["application/json"];
      const isEnvelope = response !== undefined && route.response.kind !== "stream";
      if (isEnvelope) expect(response, "add example.response").to.have.property("example");
    });
  }
});

describe("the examples of the OpenAPI document", () => {
  let world: Awaited<ReturnType<typeof openWorld>>;
  let owner: Owner;

  before(async () => {
    world = await openWorld();
    owner = await openOwner(world);
  });
  after(() => world.close());

  for (const route of routes) {
    it(`get the documented response from ${route.method} ${route.path}`, async () => {
      // In an organization if the path names one, otherwise in the account of the caller.
      const who = route.access.kind === "member" ? owner : { api: owner.api };
      const response = await send(owner.api, route, await exampleRequest(world, route, who));
      expect(response.status, response.text).to.equal(route.response.status);
      expect(faultsOf(route, response)).to.deep.equal([]);
    });
  }

  it("are served in the document without an API key", async () => {
    const response = await fetch(`${world.system.baseUrl}/openapi.json`);
    expect(response.headers.get("content-type")).to.match(/^application\/json/);
    expect(await response.json()).to.deep.equal(document);
  });

  it("are rendered at /docs/api, which loads nothing from other hosts", async () => {
    const page = await fetch(new URL("/docs/api", world.system.baseUrl));
    expect([page.status, page.headers.get("content-type")]).to.deep.equal([200, "text/html; charset=utf-8"]);
    const policy = page.headers.get("content-security-policy") ?? "";
    expect(policy)
      .to.include("default-src 'none'")
      .and.match(/script-src 'self'(;|$)/);
    expect(policy, "no foreign host").not.to.match(/[a-z]\.[a-z]|\/\/|\*/);
    const html = await page.text();
    const assets = [...html.matchAll(/<(?:script|link|img)\b[^>]*\b(?:src|href)="([^"]+)"/g)].map(
      match => match[1],
    );
    // What is in the page itself is loaded from nowhere.
    const loaded = assets.filter(asset => !asset?.startsWith("data:"));
    expect(loaded).not.to.deep.equal([]);
    for (const asset of loaded) {
      const url = new URL(asset ?? "", page.url);
      expect(url.origin, asset).to.equal(new URL(page.url).origin);
      const { status, headers } = await fetch(url);
      expect([status, headers.get("content-type")], asset).to.deep.equal([
        200,
        "text/javascript; charset=utf-8",
      ]);
    }
    const description = /spec-url="([^"]+)"/.exec(html)?.[1] ?? "";
    expect((await fetch(new URL(description, page.url))).status).to.equal(200);
  });
});
