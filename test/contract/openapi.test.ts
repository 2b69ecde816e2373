import { readFileSync } from "node:fs";
import { Validator } from "@seriousme/openapi-schema-validator";
import { expect } from "chai";
import { routes } from "../../src/app.ts";
import { document, faultsOf, operationOf, responseOf } from "./document.ts";
import { openWorld } from "./open-world.ts";
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
    const api = await world.system.user();
    owner = { api, orgId: await world.system.organization(api.userId) };
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

  it("are rendered at /docs, which loads nothing from other hosts", async () => {
    const page = await fetch(new URL("/docs", world.system.baseUrl));
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
    expect(assets).not.to.deep.equal([]);
    for (const asset of assets) {
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
