import { inspect } from "node:util";
import { expect } from "chai";
import { ERROR_CLASSES } from "../../clients/typescript/src/errors.ts";
import {
  ApiError,
  ConflictError,
  ConnectionError,
  Headwater,
  HeadwaterError,
  type HeadwaterOptions,
  InternalError,
  InvalidError,
  LimitReachedError,
  NotFoundError,
  RateLimitedError,
  TimeoutError,
  UnavailableError,
} from "../../clients/typescript/src/index.ts";
import { PROBLEMS } from "../../src/http/problem.ts";
import { type Receiver, type Reply, startReceiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";

const problem = (
  status: number,
  code: string,
  more: object = {},
  headers: Record<string, string> = {},
): Reply => ({
  status,
  headers: { "content-type": "application/problem+json", "x-request-id": "req_1", ...headers },
  body: JSON.stringify({
    type: `/docs/errors#${code}`,
    title: "Title",
    status,
    detail: "detail",
    error: "detail",
    ...more,
  }),
});

/** The retry comes at once. */
const NOW = { "retry-after": "0" };
const away = problem(503, "unavailable", {}, NOW);
const found: Reply = {
  status: 200,
  headers: { "content-type": "application/json" },
  body: '{"data":{"id":"dc_1"}}',
};

describe("a request of the client", () => {
  let server: Receiver;
  beforeEach(async () => {
    server = await startReceiver(found);
  });
  afterEach(() => server.close());

  const client = (options: Partial<HeadwaterOptions> = {}) =>
    new Headwater({ url: new URL(server.url).origin, apiKey: "hw_secret", ...options });
  const paths = () => server.requests.map(({ method, path }) => `${method} ${path}`);
  const keys = () => server.requests.map(({ headers }) => headers["idempotency-key"]);
  const errorOf = async (promise: Promise<unknown>): Promise<HeadwaterError> => {
    const error = await promise.then(
      () => expect.fail("it succeeded"),
      reason => reason,
    );
    expect(error).to.be.an.instanceOf(HeadwaterError);
    return error;
  };

  it("has the key, the organization and its parameters, encoded", async () => {
    await client({ orgId: "o_1" }).sources.get("a/b?c");
    await client().request("get", "/users/me", {});
    expect(paths()).to.deep.equal(["GET /v1/sources/a%2Fb%3Fc?org_id=o_1", "GET /v1/users/me"]);
    expect(server.requests[0]?.headers.authorization).to.equal("Bearer hw_secret");
  });

  it("goes to an address with a path and a version too", async () => {
    const origin = new URL(server.url).origin;
    for (const path of ["/", "/v1", "/v1/", "/under/here"])
      await client({ url: origin + path }).sources.get("x");
    expect(paths()).to.deep.equal([...Array(3).fill("GET /v1/sources/x"), "GET /under/here/v1/sources/x"]);
  });

  it("is sent again twice when the server is away, a POST with the same idempotency key", async () => {
    server.script(away, "reset", found);
    const { id } = await client().sources.create({ component_code: "x" });
    expect(id).to.equal("dc_1");
    expect(keys()).to.have.lengthOf(3);
    expect(keys()[0]).to.match(/^auto_[0-9a-f]{32}$/);
    expect(new Set(keys()).size).to.equal(1);
    await client().sources.create({ component_code: "x" });
    expect(new Set(keys()).size).to.equal(2);
    await client().sources.create({ component_code: "x" }, { idempotencyKey: "mine" });
    expect(keys().at(-1)).to.equal("mine");
  });

  it("is not sent a fourth time, and not again after what is final", async () => {
    server.script(away);
    const error = await errorOf(client().sources.get("x"));
    expect(error).to.be.an.instanceOf(UnavailableError);
    expect(server.requests).to.have.lengthOf(3);
    server.script(problem(404, "not-found"));
    expect(await errorOf(client().sources.get("x"))).to.be.an.instanceOf(NotFoundError);
    expect(server.requests).to.have.lengthOf(4);
    server.script(away);
    await errorOf(client({ maxRetries: 0 }).sources.get("x"));
    expect(server.requests).to.have.lengthOf(5);
  });

  it("is sent again after 408, 429 and each 5xx, and after a 409 that says when", async () => {
    for (const status of [408, 429, 500, 502, 504, 409]) {
      server.script({ status, headers: NOW, body: "<html>" }, found);
      expect((await client().sources.get("x")).id).to.equal("dc_1");
    }
    server.script(problem(409, "conflict"));
    expect(await errorOf(client().sources.create({ component_code: "x" }))).to.be.an.instanceOf(
      ConflictError,
    );
    expect(server.requests).to.have.lengthOf(13);
  });

  it("waits no longer than a minute for the server, or as its caller says: the error says how long to wait", async () => {
    const later = problem(429, "rate-limited", {}, { "retry-after": "1" });
    server.script(later, later, found);
    const impatient = await errorOf(client({ maxWaitMs: 999 }).sources.get("x"));
    expect((impatient as ApiError).retryAfterMs).to.equal(1000);
    expect((await client({ maxWaitMs: 1000 }).sources.get("x")).id).to.equal("dc_1");
    expect(server.requests).to.have.lengthOf(3);
    server.requests.length = 0;
    server.script(problem(429, "rate-limited", {}, { "retry-after": "3600" }));
    const error = await errorOf(client().sources.get("x"));
    expect(error).to.be.an.instanceOf(RateLimitedError);
    expect((error as ApiError).retryAfterMs).to.equal(3_600_000);
    expect(server.requests).to.have.lengthOf(1);
  });

  it("fails with the class, fields and id of the problem", async () => {
    const errors = [{ in: "body", path: "configured_props.url", message: "must be a URL" }];
    server.script(problem(400, "invalid", { detail: "configured_props.url: must be a URL", errors }));
    const error = (await errorOf(client().sources.create({ component_code: "x" }))) as ApiError;
    expect(error).to.be.an.instanceOf(InvalidError);
    expect(error.message).to.equal("POST /v1/sources: configured_props.url: must be a URL");
    expect({ ...error }).to.deep.include({
      status: 400,
      code: "invalid",
      detail: "configured_props.url: must be a URL",
      errors,
      requestId: "req_1",
      retryAfterMs: null,
    });
    server.script(problem(403, "limit-reached"));
    expect(await errorOf(client().sources.get("x"))).to.be.an.instanceOf(LimitReachedError);
    server.script(problem(418, "new-kind"));
    const unknown = (await errorOf(client().sources.get("x"))) as ApiError;
    expect([unknown.constructor, unknown.code]).to.deep.equal([ApiError, "new-kind"]);
  });

  it("says what went wrong where no server is", async () => {
    await server.close();
    const error = await errorOf(client({ maxRetries: 1 }).sources.get("x"));
    expect(error).to.be.an.instanceOf(ConnectionError);
    expect(error.message).to.match(/^GET \/v1\/sources\/x: no response \(.*ECONNREFUSED/);
  });

  it("times out, and is sent again then", async () => {
    server.script("hang", found);
    expect((await client().sources.get("x", { timeoutMs: 200 })).id).to.equal("dc_1");
    server.script("hang");
    const error = await errorOf(client({ timeoutMs: 50, maxRetries: 0 }).sources.get("x"));
    expect(error).to.be.an.instanceOf(TimeoutError);
    expect(error.message).to.equal("GET /v1/sources/x: no response within 50 ms");
  });

  it("ends with the reason of its caller's signal, also while it waits", async () => {
    const reason = new Error("enough");
    for (const reply of ["hang", problem(503, "unavailable", {}, { "retry-after": "50" })] as Reply[]) {
      server.script(reply);
      const caller = new AbortController();
      const count = server.requests.length;
      const sent = client()
        .sources.get("x", { signal: caller.signal })
        .catch(error => error);
      await until(() => server.requests.length > count);
      caller.abort(reason);
      expect(await sent).to.equal(reason);
      expect(server.requests).to.have.lengthOf(count + 1);
    }
  });

  it("counts as done if what it deletes is gone after an attempt without a response", async () => {
    server.script("reset", problem(404, "not-found"));
    expect(await client().sources.delete("dc_1")).to.equal(undefined);
    expect(await errorOf(client().sources.delete("dc_1"))).to.be.an.instanceOf(NotFoundError);
  });

  it("follows no redirect, so that the key goes nowhere else", async () => {
    const other = await startReceiver(found);
    try {
      server.script({ status: 302, headers: { location: other.url } });
      const error = await errorOf(client().sources.get("x"));
      expect(error.message).to.match(/redirects are not followed: url must be the address they lead to/);
      expect(other.requests).to.deep.equal([]);
    } finally {
      await other.close();
    }
  });

  it("says that an address is not Headwater's if what responds is a page", async () => {
    server.script({ status: 200, body: "<html>" });
    const error = await errorOf(client().sources.get("x"));
    expect(error.message).to.match(/the response is not JSON: url must be the address of a Headwater/);
    expect(server.requests).to.have.lengthOf(1);
  });

  it("is made by the given fetch", async () => {
    const urls: string[] = [];
    const fake: typeof fetch = async url => {
      urls.push(String(url));
      return new Response('{"data":{"id":"dc_2"}}');
    };
    expect((await client({ fetch: fake }).sources.get("x")).id).to.equal("dc_2");
    expect(urls).to.deep.equal([`${new URL(server.url).origin}/v1/sources/x`]);
  });

  it("publishes one event or a batch, as a workflow or a source", async () => {
    const published: Reply = { status: 202, body: '{"data":{"emit_ids":["a"]}}' };
    server.script(published);
    expect(await client().publish("p_1", { event: 1, name: "n" })).to.deep.equal({ emit_ids: ["a"] });
    await client().publish("dc_1", [{ event: 1 }, { event: 2, id: "two" }]);
    expect(server.requests.map(({ path, raw }) => [path, JSON.parse(raw)])).to.deep.equal([
      ["/v1/workflows/p_1/events", { event: 1, name: "n" }],
      ["/v1/sources/dc_1/events", { events: [{ event: 1 }, { event: 2, id: "two" }] }],
    ]);
    const wrong = await Promise.resolve()
      .then(() => client().publish("wh_1", { event: 1 }))
      .catch(error => error);
    expect(wrong.message).to.match(/needs the id of a workflow \(p_…\) or of a source \(dc_…\)/);
  });

  it("rejects options that can't be right, and shows the key nowhere", () => {
    const made = (options: Partial<HeadwaterOptions>) => () => client(options);
    expect(made({ url: "headwater" })).to.throw(HeadwaterError, /^url must be an address/);
    expect(made({ url: "ftp://x" })).to.throw(/^url must start with http/);
    expect(made({ url: "http://a:b@x" })).to.throw(/^url must have no credentials/);
    expect(made({ timeoutMs: 0 })).to.throw(/^timeoutMs must be an integer from 1/);
    expect(made({ maxRetries: -1 })).to.throw(/^maxRetries must be an integer from 0/);
    expect(made({ apiKey: "hw_secret\n" }))
      .to.throw(/^apiKey must consist of visible ASCII/)
      .with.property("message")
      .not.match(/secret/);
    expect(inspect(client(), { depth: 9, showHidden: true })).not.to.include("hw_secret");
  });

  it("rejects options of a call that can't be right", async () => {
    expect((await errorOf(client().me({ maxRetries: Number.NaN }))).message).to.match(/^maxRetries must be/);
    expect((await errorOf(client().me({ timeoutMs: 0.5 }))).message).to.match(/^timeoutMs must be/);
  });

  it("does not go to another path for an id that is empty or a dot", async () => {
    for (const id of ["", ".", ".."]) {
      const error = await client()
        .sources.delete(id)
        .catch(reason => reason);
      expect(error.message).to.equal("id must be a text that is not empty");
    }
    expect(server.requests).to.deep.equal([]);
  });
});

describe("the classes of errors", () => {
  it("are one for each kind of problem that the server knows", () => {
    expect(Object.keys(ERROR_CLASSES).sort()).to.deep.equal(Object.keys(PROBLEMS).sort());
    expect(new Set(Object.values(ERROR_CLASSES)).size).to.equal(Object.keys(PROBLEMS).length);
    expect(ERROR_CLASSES.internal).to.equal(InternalError);
  });
});
