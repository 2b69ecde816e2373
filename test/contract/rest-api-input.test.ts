import { request as httpRequest } from "node:http";
import { expect } from "chai";
import { routes } from "../../src/app.ts";
import { responseFields } from "../../src/http/fields.ts";
import type { AnyRoute } from "../../src/http/route.ts";
import type { ApiAnswer, Problem } from "../support/api.ts";
import { openWorld } from "./open-world.ts";
import { type ExampleRequest, exampleRequest, send } from "./requests.ts";
import type { Owner } from "./things.ts";

/** What every route takes and refuses alike (rest-api.md, section 4.1; design.md, "REST decisions"). */
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
  const isDone = (route: AnyRoute, answer: ApiAnswer<unknown>) =>
    expect(answer.status, answer.text).to.equal(route.response.status);
  /** A 400 that names this parameter or field, and where it stood. */
  const names = (answer: ApiAnswer<Problem>, place: string, path: string) => {
    expect(answer.status, answer.text).to.equal(400);
    const { errors = [], detail } = answer.body;
    expect(errors.map(error => `${error.in} ${error.path}`)).to.include(`${place} ${path}`);
    expect(detail).to.include(path);
  };
  const withQuery = (request: ExampleRequest, more: Record<string, string>) => ({
    ...request,
    query: { ...request.query, ...more },
  });
  const hasBody = (route: AnyRoute) => route.method !== "GET";
  const isKeyed = (route: AnyRoute) => route.access.kind !== "public";
  /** Sends bytes that are no JSON. */
  const sendRaw = async (request: ExampleRequest, type: string, body: string) => {
    const { baseUrl, apiKey } = owner.api;
    const query = new URLSearchParams(request.query as Record<string, string>);
    const answer = await fetch(`${baseUrl}${request.path}?${query}`, {
      method: request.method,
      headers: { authorization: `Bearer ${apiKey}`, "content-type": type },
      body,
    });
    const text = await answer.text();
    return { status: answer.status, headers: answer.headers, text, body: text ? JSON.parse(text) : text };
  };

  for (const route of routes) {
    const fields = [...(responseFields(route.response) ?? [])];
    const queryNames = Object.keys(route.query?.properties ?? {});

    describe(`${route.method} ${route.path}`, () => {
      it("is served with a trailing slash too", async () => {
        const request = await example(route);
        isDone(route, await send(owner.api, route, { ...request, path: `${request.path}/` }));
      });

      it("refuses an unknown query parameter by name", async () => {
        const request = await example(route);
        names(await send(owner.api, route, withQuery(request, { surprise: "1" })), "query", "surprise");
      });

      if (isKeyed(route)) {
        it("answers the fields that include and exclude leave, and refuses unknown ones by name", async () => {
          const request = await example(route);
          for (const kind of ["include", "exclude"]) {
            const refused = await send(owner.api, route, withQuery(request, { [kind]: "id,surprise" }));
            if (fields.length === 0) continue;
            names(refused, "query", kind);
            expect(refused.text).to.include("surprise is not a field of the response");
          }
          const [kept = "", ...others] = fields;
          const queries: Record<string, string>[] = [{ include: kept }, { exclude: others.join(",") }];
          for (const query of queries) {
            const answer = await send(owner.api, route, withQuery(await example(route), query));
            isDone(route, answer);
            for (const object of fields.length > 0 ? [answer.body.data].flat() : []) {
              expect(Object.keys(object), JSON.stringify(query)).to.deep.equal([kept]);
            }
          }
        });
      }

      if (hasBody(route)) {
        it("refuses an unknown body field by name", async () => {
          const request = await example(route);
          const body = { ...request.body, surprise: 1 };
          names(await send(owner.api, route, { ...request, body }), "body", "surprise");
        });

        it("refuses a body that is no JSON, or no object", async () => {
          const request = await example(route);
          const form = await sendRaw(request, "application/x-www-form-urlencoded", "a=1");
          expect(form.status, form.text).to.equal(415);
          for (const garbage of ["{", "[]", "1", "null", '"text"', '{"__proto__":{"a":1}}', "{}{}"]) {
            const answer = await sendRaw(request, "application/json", garbage);
            expect(answer.status, `${garbage}: ${answer.text}`).to.equal(400);
          }
        });

        it("refuses a body over 1 MB", async () => {
          const answer = await sendRaw(
            await example(route),
            "application/json",
            `{"a":"${"x".repeat(1 << 20)}"}`,
          );
          expect(answer.status, answer.text).to.equal(413);
        });

        it("takes its query parameters from the body too, where the query string wins", async () => {
          const { query, body, ...moved } = await example(route);
          isDone(route, await send(owner.api, route, { ...moved, query: {}, body: { ...body, ...query } }));
          const request = await example(route);
          const wrong = Object.fromEntries(queryNames.map(name => [name, "overruled"]));
          const given = Object.fromEntries(
            queryNames.filter(name => name in request.query).map(name => [name, wrong[name]]),
          );
          isDone(route, await send(owner.api, route, { ...request, body: { ...request.body, ...given } }));
        });
      }

      if (route.method === "POST") {
        it("answers the same Idempotency-Key as before, and refuses it for another request", async () => {
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

      it("takes an empty body with a JSON content type", async () => {
        if (
          (route.body?.required ?? []).length > 0 ||
          route.path === "/components" ||
          route.path === "/sources"
        )
          return;
        const { body: _, ...request } = await example(route);
        isDone(route, await send(owner.api, route, request, { "content-type": "application/json" }));
      });

      it("refuses a parameter that is given twice, or holds NUL", async () => {
        const { baseUrl, apiKey } = owner.api;
        const request = await example(route);
        const headers = { authorization: `Bearer ${apiKey}` };
        for (const query of ["limit=1&limit=2", "surprise=%00", "include=%ff"]) {
          const answer = await fetch(`${baseUrl}${request.path}?${query}`, { method: route.method, headers });
          expect(answer.status, `${query}: ${await answer.text()}`).to.equal(400);
        }
      });
    });
  }

  describe("paths and methods", () => {
    const paths = [...new Set(routes.map(route => route.path))];
    for (const path of paths) {
      it(`${path} answers a method it does not serve with 405 and those it does`, async () => {
        const served = routes.filter(route => route.path === path).map(route => route.method);
        const real = path.replaceAll(/\{\w+\}/g, "x");
        const answer = await owner.api.request("PATCH", real);
        expect(answer.status, answer.text).to.equal(405);
        expect((answer.headers.get("allow") ?? "").split(", ")).to.include.members(served);
        expect(answer.body).to.include({ type: "/docs/errors#method-not-allowed", status: 405 });
      });
    }

    it("answer garbage with a problem, never with a 500", async () => {
      const { apiKey } = owner.api;
      const { port } = new URL(owner.api.baseUrl);
      /** As it stands, unlike fetch, which mends a path before it sends it. */
      const raw = (path: string, method = "GET") =>
        new Promise<number>((resolve, reject) => {
          const headers = { authorization: `Bearer ${apiKey}` };
          const sent = httpRequest({ port, host: "127.0.0.1", path, method, headers }, answer => {
            answer.resume().on("end", () => resolve(answer.statusCode ?? 0));
          });
          sent.on("error", reject).end();
        });
      const long = "x".repeat(8000);
      const odd = [
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
      for (const path of [
        "/v1",
        "/v1/",
        "/v1//",
        "//v1/users/me",
        "/v1/nothing",
        "/v2/users/me",
        "/v1/Users/Me",
      ]) {
        expect(await raw(path), path).to.equal(404);
      }
      for (const route of routes.filter(one => one.path.includes("{"))) {
        for (const part of odd) {
          const path = `/v1${route.path.replaceAll(/\{\w+\}/g, part)}`;
          const status = await raw(path, route.method);
          expect([400, 404, 405], `${route.method} ${path.slice(0, 80)}: ${status}`).to.include(status);
        }
      }
    });

    it("answer a head that is too large with a problem", async () => {
      const answer = await owner.api.request("GET", "/users/me", {
        headers: { "x-large": "x".repeat(20_000) },
      });
      expect(answer.status).to.equal(431);
      expect(answer.body).to.include({ type: "/docs/errors#headers-too-large", status: 431 });
      expect(answer.headers.get("content-type")).to.match(/^application\/problem\+json/);
    });

    it("name each request, by the caller's own name where there is one", async () => {
      const own = await owner.api.request("GET", "/users/me", { headers: { "x-request-id": "mine-1" } });
      expect(own.headers.get("x-request-id")).to.equal("mine-1");
      const refused = await owner.api.request("GET", "/nothing");
      expect(refused.headers.get("x-request-id")).to.match(/\S{8,}/);
    });
  });
});
