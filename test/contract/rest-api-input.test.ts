import { request as httpRequest } from "node:http";
import { expect } from "chai";
import { routes } from "../../src/app.ts";
import { responseFields } from "../../src/http/fields.ts";
import type { AnyRoute } from "../../src/http/route.ts";
import type { ApiResponse, Problem } from "../support/api.ts";
import { openWorld } from "./open-world.ts";
import { type ExampleRequest, exampleRequest, send } from "./requests.ts";
import type { Owner } from "./things.ts";

/** Rules for all routes (docs/rest-api.md#common-parameters, docs/design.md#api). */
describe("requests to every route", () => {
  let world: Awaited<ReturnType<typeof openWorld>>;
  let owner: Owner;

  before(async () => {
    world = await openWorld();
    const api = await world.system.user();
    owner = { api, orgId: await world.system.organization(api.userId) };
  });
  after(() => world.close());

  const example = (route: AnyRoute) =>
    exampleRequest(world, route, route.access.kind === "member" ? owner : { api: owner.api });
  const isDone = (route: AnyRoute, response: ApiResponse<unknown>) =>
    expect(response.status, response.text).to.equal(route.response.status);
  /** Expects a 400 with an error for this parameter or field, in this part of the request. */
  const names = (response: ApiResponse<Problem>, location: string, path: string) => {
    expect(response.status, response.text).to.equal(400);
    const { errors = [], detail } = response.body;
    expect(errors.map(error => `${error.in} ${error.path}`)).to.include(`${location} ${path}`);
    expect(detail).to.include(path);
  };
  const withQuery = (request: ExampleRequest, more: Record<string, string>) => ({
    ...request,
    query: { ...request.query, ...more },
  });
  const hasBody = (route: AnyRoute) => route.method !== "GET";
  const isKeyed = (route: AnyRoute) => route.access.kind !== "public";
  /** Sends a body that is not JSON. */
  const sendRaw = async (request: ExampleRequest, type: string, body: string) => {
    const { baseUrl, apiKey } = owner.api;
    const query = new URLSearchParams(request.query as Record<string, string>);
    const response = await fetch(`${baseUrl}${request.path}?${query}`, {
      method: request.method,
      headers: { authorization: `Bearer ${apiKey}`, "content-type": type },
      body,
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, body: text ? JSON.parse(text) : text };
  };

  for (const route of routes) {
    const fields = [...(responseFields(route.response) ?? [])];
    const queryNames = Object.keys(route.query?.properties ?? {});

    describe(`${route.method} ${route.path}`, () => {
      it("is served with a trailing slash too", async () => {
        const request = await example(route);
        isDone(route, await send(owner.api, route, { ...request, path: `${request.path}/` }));
      });

      it("rejects an unknown query parameter by name", async () => {
        const request = await example(route);
        names(await send(owner.api, route, withQuery(request, { surprise: "1" })), "query", "surprise");
      });

      if (isKeyed(route)) {
        it("returns the fields that include and exclude select, and rejects unknown ones by name", async () => {
          const request = await example(route);
          for (const kind of ["include", "exclude"]) {
            const rejected = await send(owner.api, route, withQuery(request, { [kind]: "id,surprise" }));
            if (fields.length === 0) continue;
            names(rejected, "query", kind);
            expect(rejected.text).to.include("surprise is not a field of the response");
          }
          const [first = "", ...others] = fields;
          const queries: Record<string, string>[] = [{ include: first }, { exclude: others.join(",") }];
          for (const query of queries) {
            const response = await send(owner.api, route, withQuery(await example(route), query));
            isDone(route, response);
            for (const object of fields.length > 0 ? [response.body.data].flat() : []) {
              expect(Object.keys(object), JSON.stringify(query)).to.deep.equal([first]);
            }
          }
        });
      }

      if (hasBody(route)) {
        it("rejects an unknown body field by name", async () => {
          const request = await example(route);
          const body = { ...request.body, surprise: 1 };
          names(await send(owner.api, route, { ...request, body }), "body", "surprise");
        });

        it("rejects a body that is not a JSON object", async () => {
          const request = await example(route);
          const form = await sendRaw(request, "application/x-www-form-urlencoded", "a=1");
          expect(form.status, form.text).to.equal(415);
          for (const text of ["{", "[]", "1", "null", '"text"', '{"__proto__":{"a":1}}', "{}{}"]) {
            const response = await sendRaw(request, "application/json", text);
            expect(response.status, `${text}: ${response.text}`).to.equal(400);
          }
        });

        const mostBytes = route.maxBodyBytes ?? 1 << 20;
        it(`rejects a body larger than ${mostBytes >> 20} MB`, async () => {
          const text = `{"a":"${"x".repeat(mostBytes)}"}`;
          const response = await sendRaw(await example(route), "application/json", text);
          expect(response.status, response.text).to.equal(413);
        });

        it("accepts query parameters in the body, but the query string wins", async () => {
          const { query, body, ...moved } = await example(route);
          isDone(route, await send(owner.api, route, { ...moved, query: {}, body: { ...body, ...query } }));
          const request = await example(route);
          const ignored = Object.fromEntries(queryNames.map(name => [name, "ignored"]));
          const inBody = Object.fromEntries(
            queryNames.filter(name => name in request.query).map(name => [name, ignored[name]]),
          );
          isDone(route, await send(owner.api, route, { ...request, body: { ...request.body, ...inBody } }));
        });
      }

      if (route.method === "POST" && isKeyed(route)) {
        it("repeats the response for the same Idempotency-Key, and rejects it for a different request", async () => {
          const request = await example(route);
          const key = { "idempotency-key": `${route.id}-1` };
          const first = await send(owner.api, route, request, key);
          isDone(route, first);
          const again = await send(owner.api, route, request, key);
          expect([again.status, again.body]).to.deep.equal([first.status, first.body]);
          expect(again.headers.get("idempotency-replayed")).to.equal("true");
          const other = await send(owner.api, route, withQuery(request, { exclude: fields[0] ?? "" }), key);
          expect(other.status, other.text).to.equal(409);
        });
      }

      it("accepts an empty body with a JSON content type", async () => {
        if ((route.body?.required ?? []).length > 0 || route.requiresOneOf) return;
        // A source without a timer has no event of its own.
        if (route.id === "runSource") return;
        const { body: _, ...request } = await example(route);
        isDone(route, await send(owner.api, route, request, { "content-type": "application/json" }));
      });

      it("rejects a parameter that is given twice, or has NUL or invalid UTF-8", async () => {
        const { baseUrl, apiKey } = owner.api;
        const request = await example(route);
        const headers = { authorization: `Bearer ${apiKey}` };
        for (const query of ["limit=1&limit=2", "surprise=%00", "include=%ff"]) {
          const response = await fetch(`${baseUrl}${request.path}?${query}`, {
            method: route.method,
            headers,
          });
          expect(response.status, `${query}: ${await response.text()}`).to.equal(400);
        }
      });
    });
  }

  describe("paths and methods", () => {
    const paths = [...new Set(routes.map(route => route.path))];
    for (const path of paths) {
      it(`${path} rejects a method that it does not support with 405 and Allow`, async () => {
        const supported = routes.filter(route => route.path === path).map(route => route.method);
        const real = path.replaceAll(/\{\w+\}/g, "x");
        const response = await owner.api.request("PATCH", real);
        expect(response.status, response.text).to.equal(405);
        expect((response.headers.get("allow") ?? "").split(", ")).to.include.members(supported);
        expect(response.body).to.include({ type: "/docs/errors#method-not-allowed", status: 405 });
      });
    }

    it("respond to malformed paths with a problem, never with a 500", async () => {
      const { apiKey } = owner.api;
      const { port } = new URL(owner.api.baseUrl);
      /** Sends the path unchanged; fetch would normalize it. */
      const raw = (path: string, method = "GET") =>
        new Promise<number>((resolve, reject) => {
          const headers = { authorization: `Bearer ${apiKey}` };
          const sent = httpRequest({ port, host: "127.0.0.1", path, method, headers }, response => {
            response.resume().on("end", () => resolve(response.statusCode ?? 0));
          });
          sent.on("error", reject).end();
        });
      const long = "x".repeat(8000);
      const malformed = [
        "%00",
        "%ff",
        "%",
        "%zz",
        "..",
        "%2e%2e%2f",
        "a%2fb",
        "$errors",
        "'",
        "{id}",
        "%F0%9F%98%80",
        long,
      ];
      for (const path of ["/v1//", "//v1/users/me", "/v1/nothing", "/v2/users/me", "/v1/Users/Me"]) {
        expect(await raw(path), path).to.equal(404);
      }
      for (const route of routes.filter(one => one.path.includes("{"))) {
        for (const part of malformed) {
          const path = `/v1${route.path.replaceAll(/\{\w+\}/g, part)}`;
          const status = await raw(path, route.method);
          expect([400, 404, 405], `${route.method} ${path.slice(0, 80)}: ${status}`).to.include(status);
        }
      }
    });

    it("respond to headers that are too large with a problem", async () => {
      const response = await owner.api.request("GET", "/users/me", {
        headers: { "x-large": "x".repeat(20_000) },
      });
      expect(response.status).to.equal(431);
      expect(response.body).to.include({ type: "/docs/errors#headers-too-large", status: 431 });
      expect(response.headers.get("content-type")).to.match(/^application\/problem\+json/);
    });

    it("add a request id to every response, the caller's own if there is one", async () => {
      const own = await owner.api.request("GET", "/users/me", { headers: { "x-request-id": "mine-1" } });
      expect(own.headers.get("x-request-id")).to.equal("mine-1");
      const rejected = await owner.api.request("GET", "/nothing");
      expect(rejected.headers.get("x-request-id")).to.match(/\S{8,}/);
    });
  });
});
