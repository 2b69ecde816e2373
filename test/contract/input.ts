import { request as httpRequest } from "node:http";
import { expect } from "chai";
import { responseFields } from "../../src/http/common-parameters.ts";
import type { AnyRoute } from "../../src/http/route.ts";
import type { ApiResponse, Problem } from "../support/api.ts";
import { type ExampleRequest, exampleRequest, send } from "./requests.ts";
import type { Owner, World } from "./things.ts";

/** Tests the rules for all requests (docs/rest-api.md#common-parameters, docs/design.md#api) with these routes. */
export function testInput(routes: readonly AnyRoute[], opened: () => { world: World; owner: Owner }): void {
  const example = (route: AnyRoute) => {
    const { world, owner } = opened();
    return exampleRequest(world, route, route.access.kind === "member" ? owner : { api: owner.api });
  };
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
    const { baseUrl, apiKey } = opened().owner.api;
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
    let unchanged: Promise<ExampleRequest> | undefined;
    /** One request for all tests that read, or are rejected: the resources that it names stay as they are. */
    const unchanging = () => {
      unchanged ??= example(route);
      return unchanged;
    };
    /** A request that is served: one of its own if it changes something. */
    const served = () => (route.method === "GET" ? unchanging() : example(route));

    describe(`${route.method} ${route.path}`, () => {
      it("is served with a trailing slash too", async () => {
        const request = await served();
        isDone(route, await send(opened().owner.api, route, { ...request, path: `${request.path}/` }));
      });

      it("rejects an unknown query parameter by name", async () => {
        const request = await unchanging();
        names(
          await send(opened().owner.api, route, withQuery(request, { surprise: "1" })),
          "query",
          "surprise",
        );
      });

      if (isKeyed(route)) {
        it("returns the fields that include and exclude select, and rejects unknown ones by name", async () => {
          for (const kind of fields.length > 0 ? ["include", "exclude"] : []) {
            const request = withQuery(await unchanging(), { [kind]: "id,surprise" });
            const rejected = await send(opened().owner.api, route, request);
            names(rejected, "query", kind);
            expect(rejected.text).to.include("surprise is not a field of the response");
          }
          const [first = "", ...others] = fields;
          const queries: Record<string, string>[] = [{ include: first }, { exclude: others.join(",") }];
          for (const query of queries) {
            const response = await send(opened().owner.api, route, withQuery(await served(), query));
            isDone(route, response);
            for (const object of fields.length > 0 ? [response.body.data].flat() : []) {
              expect(Object.keys(object), JSON.stringify(query)).to.deep.equal([first]);
            }
          }
        });
      }

      if (hasBody(route)) {
        it("rejects an unknown body field by name", async () => {
          const request = await unchanging();
          const body = { ...request.body, surprise: 1 };
          names(await send(opened().owner.api, route, { ...request, body }), "body", "surprise");
        });

        it("rejects a body that is not a JSON object", async () => {
          const request = await unchanging();
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
          const response = await sendRaw(await unchanging(), "application/json", text);
          expect(response.status, response.text).to.equal(413);
        });

        it("accepts query parameters in the body, but the query string wins", async () => {
          const { query, body, ...moved } = await served();
          isDone(
            route,
            await send(opened().owner.api, route, { ...moved, query: {}, body: { ...body, ...query } }),
          );
          const request = await served();
          const ignored = Object.fromEntries(queryNames.map(name => [name, "ignored"]));
          const inBody = Object.fromEntries(
            queryNames.filter(name => name in request.query).map(name => [name, ignored[name]]),
          );
          isDone(
            route,
            await send(opened().owner.api, route, { ...request, body: { ...request.body, ...inBody } }),
          );
        });
      }

      if (route.method === "POST" && isKeyed(route)) {
        it("repeats the response for the same Idempotency-Key, and rejects it for a different request", async () => {
          const request = await served();
          const key = { "idempotency-key": `${route.id}-1` };
          const first = await send(opened().owner.api, route, request, key);
          isDone(route, first);
          const again = await send(opened().owner.api, route, request, key);
          expect([again.status, again.body]).to.deep.equal([first.status, first.body]);
          expect(again.headers.get("idempotency-replayed")).to.equal("true");
          const other = await send(
            opened().owner.api,
            route,
            withQuery(request, { exclude: fields[0] ?? "" }),
            key,
          );
          expect(other.status, other.text).to.equal(409);
        });
      }

      it("accepts an empty body with a JSON content type", async () => {
        if ((route.body?.required ?? []).length > 0 || route.requiresOneOf) return;
        // A source without a timer has no event of its own.
        if (route.id === "runSource") return;
        const { body: _, ...request } = await served();
        isDone(route, await send(opened().owner.api, route, request, { "content-type": "application/json" }));
      });

      it("rejects a parameter that is given twice, or has NUL or invalid UTF-8", async () => {
        const { baseUrl, apiKey } = opened().owner.api;
        const request = await unchanging();
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
}

/** Tests that malformed paths are rejected: with these routes, what stands where they have a parameter. */
export function testPaths(routes: readonly AnyRoute[], owner: () => Owner): void {
  it("respond to malformed paths with a problem, never with a 500", async () => {
    const { apiKey } = owner().api;
    const { port } = new URL(owner().api.baseUrl);
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
}
