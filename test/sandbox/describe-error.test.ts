import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import axios from "axios";
import { expect } from "chai";
import { Agent, interceptors, request } from "undici";
import { authorText, maskSecrets, secretsOf } from "../../src/sandbox/child/author-text.ts";
import { describeError } from "../../src/sandbox/child/describe-error.ts";
import { readBodies } from "../../src/sandbox/child/vendor-response.ts";
import { MAX_ERROR_MESSAGE, MAX_STACK } from "../../src/sandbox/child/wire.ts";

const SECRET = "sk_live_abcdefgh12345678";
const BODY = { error: { message: "the mail is taken", field: "mail" } };
const AUTHORIZED = { authorization: `Bearer ${SECRET}`, "x-api-key": SECRET, cookie: `session=${SECRET}` };
/** What libraries have of the request, beside the response. */
const OF_REQUEST = {
  config: { headers: AUTHORIZED, data: SECRET, url: `https://vendor.example/?key=${SECRET}` },
  request: { headers: AUTHORIZED, _header: SECRET, path: `/?key=${SECRET}` },
  options: { headers: AUTHORIZED, json: { a: SECRET } },
  requestBody: { json: SECRET },
  payload: SECRET,
  headers: AUTHORIZED,
};

const failed = (fields: object, message = "it failed"): Error => Object.assign(new Error(message), fields);

/** Errors as the libraries throw them for a response of status 422 with this body, as far as their fields matter. */
const SHAPES: Record<string, () => unknown> = {
  axios: () =>
    failed({
      ...OF_REQUEST,
      code: "ERR_BAD_REQUEST",
      status: 422,
      response: { ...OF_REQUEST, status: 422, data: BODY },
    }),
  "axios' response, thrown by an interceptor": () => ({
    ...OF_REQUEST,
    status: 422,
    statusText: "Unprocessable",
    data: BODY,
  }),
  "axios with a stream": () =>
    failed({ ...OF_REQUEST, response: { status: 422, data: Readable.from([JSON.stringify(BODY)]) } }),
  "axios with bytes": () =>
    failed({ ...OF_REQUEST, response: { status: 422, data: Buffer.from(JSON.stringify(BODY)) } }),
  got: () =>
    failed({
      ...OF_REQUEST,
      code: "ERR_NON_2XX_3XX_RESPONSE",
      response: { statusCode: 422, body: JSON.stringify(BODY), request: OF_REQUEST },
    }),
  "ky, and wrappers of fetch that attach the response": () =>
    failed({ ...OF_REQUEST, response: new Response(JSON.stringify(BODY), { status: 422 }) }),
  "a wrapper of fetch that throws the response": () => new Response(JSON.stringify(BODY), { status: 422 }),
  "a wrapper of fetch that attaches the text": () => failed({ status: 422, body: JSON.stringify(BODY) }),
  "node-fetch, whose body is a stream of Node": () =>
    failed({
      response: { status: 422, bodyUsed: false, body: Readable.from([Buffer.from(JSON.stringify(BODY))]) },
    }),
  ofetch: () =>
    failed({
      ...OF_REQUEST,
      data: BODY,
      status: 422,
      statusCode: 422,
      response: { status: 422, bodyUsed: true, _data: BODY },
    }),
  superagent: () =>
    failed({
      status: 422,
      response: { status: 422, body: BODY, text: JSON.stringify(BODY), req: OF_REQUEST },
    }),
  "superagent with a page": () =>
    failed({ status: 422, response: { status: 422, body: {}, text: "the mail is taken" } }),
  "request-promise": () =>
    failed({
      ...OF_REQUEST,
      name: "StatusCodeError",
      statusCode: 422,
      error: BODY,
      response: { statusCode: 422, body: BODY },
    }),
  Stripe: () =>
    failed({
      type: "StripeInvalidRequestError",
      statusCode: 422,
      raw: { headers: AUTHORIZED, ...BODY.error, statusCode: 422 },
    }),
  Octokit: () =>
    failed({
      status: 422,
      request: OF_REQUEST,
      response: { status: 422, url: "https://x", headers: AUTHORIZED, data: BODY },
    }),
  "AWS SDK 3": () =>
    failed({ $fault: "client", $metadata: { httpStatusCode: 422, requestId: "r" }, details: BODY }),
  "AWS SDK 2": () => failed({ code: "ValidationException", statusCode: 422 }, "the mail is taken"),
  "googleapis and gaxios": () =>
    failed({
      ...OF_REQUEST,
      code: "422",
      errors: [BODY.error],
      response: { ...OF_REQUEST, status: 422, data: BODY },
    }),
  "Slack, the platform": () =>
    failed(
      { code: "slack_webapi_platform_error", data: { ok: false, error: "the mail is taken" } },
      "An API error occurred (422)",
    ),
  "Slack, HTTP": () =>
    failed({ code: "slack_webapi_http_error", statusCode: 422, headers: AUTHORIZED, body: BODY }),
  OpenAI: () => failed({ status: 422, headers: AUTHORIZED, error: BODY.error, code: "x" }),
  Notion: () =>
    failed({ status: 422, code: "validation_error", headers: AUTHORIZED, body: JSON.stringify(BODY) }),
  "Airtable, which throws no Error": () => ({
    error: "INVALID",
    message: "the mail is taken",
    statusCode: 422,
  }),
  "graphql-request": () =>
    failed({
      request: { query: "{ x }", variables: OF_REQUEST },
      response: { status: 422, headers: AUTHORIZED, errors: [BODY.error] },
    }),
  Apollo: () => failed({ networkError: failed({ statusCode: 422, result: BODY }) }),
  "discord.js": () =>
    failed({ status: 422, code: 50035, rawError: BODY, requestBody: OF_REQUEST, url: "https://x" }),
  SendGrid: () => failed({ code: 422, response: { headers: AUTHORIZED, body: { errors: [BODY.error] } } }),
  HubSpot: () => failed({ code: 422, body: BODY, headers: AUTHORIZED }),
  Telegram: () =>
    failed(
      { error_code: 422, description: "the mail is taken", payload: SECRET, ok: false },
      "the mail is taken",
    ),
  "an error that was caused by such a one": () =>
    new Error("sync failed", { cause: failed({ response: { status: 422, data: BODY } }) }),
  "an AggregateError with such a one": () =>
    new AggregateError([failed({ response: { status: 422, data: BODY } })], "two failed"),
};

async function described(thrown: unknown, secrets: string[] = []) {
  return describeError(thrown, { bodies: await readBodies(thrown), secrets });
}

describe("the error that its author reads", () => {
  for (const [library, shape] of Object.entries(SHAPES)) {
    it(`has the response's status and body, and nothing of the request: ${library}`, async () => {
      const { message, stack } = await described(shape());
      for (const text of [message, stack]) {
        expect(text).to.include("422").and.include("the mail is taken");
        expect(text).not.to.include(SECRET);
      }
    });
  }

  describe("of real clients", () => {
    let server: Server;
    let url: string;
    before(done => {
      server = createServer((given, response) => {
        given.resume();
        response.writeHead(422, { "content-type": "application/json" });
        response.end(JSON.stringify({ ...BODY, echo: given.headers.authorization, url: given.url }));
      }).listen(0, "127.0.0.1", () => {
        url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/?api_key=${SECRET}`;
        done();
      });
    });
    after(done => {
      server.close(done);
      server.closeAllConnections();
    });

    const headers = { authorization: `Bearer ${SECRET}` };
    const CLIENTS: Record<string, () => Promise<unknown>> = {
      axios: () => axios.post(url, { a: SECRET }, { headers }),
      "axios with a stream": () => axios.get(url, { headers, responseType: "stream" }),
      undici: () => request(url, { headers, dispatcher: new Agent().compose(interceptors.responseError()) }),
      "fetch, with a wrapper": async () => {
        throw failed({ response: await fetch(url, { headers }) });
      },
    };
    for (const [name, call] of Object.entries(CLIENTS)) {
      it(`has the response's status and body, without the secret that it echoes: ${name}`, async () => {
        const thrown = await call().catch((error: unknown) => error);
        const { message, stack } = await described(thrown);
        for (const text of [message, stack]) {
          expect(text).to.include("422").and.include("the mail is taken");
          expect(text).not.to.include(SECRET);
        }
      });
    }
  });

  const THROWN: [thrown: unknown, code: string, message: string][] = [
    ["a text", "Error", "a text"],
    ["", "Error", "an empty text was thrown"],
    [undefined, "Error", "undefined was thrown"],
    [null, "Error", "null was thrown"],
    [42, "Error", "42 was thrown"],
    [7n, "Error", "7 was thrown"],
    [Symbol("s"), "Error", "Symbol(s) was thrown"],
    [() => 1, "Error", "a function was thrown"],
    [{ message: "as an object" }, "Error", "as an object"],
    [{ name: "Custom", message: "as an object" }, "Custom", "as an object"],
    [{ message: { deep: 1 } }, "Error", '{"deep":1}'],
    [{ a: 1, headers: { authorization: SECRET } }, "Error", '{"a":1}'],
    [["x"], "Error", '["x"]'],
    [new Map(), "Error", "a Map was thrown"],
    [new RangeError(), "RangeError", "an error without a message"],
    [failed({ code: "ECONNRESET" }, ""), "Error", "ECONNRESET"],
    [new Error("outer", { cause: "the reason" }), "Error", "outer (caused by the reason)"],
    [new Error("outer: the reason", { cause: new Error("the reason") }), "Error", "outer: the reason"],
    [
      new AggregateError([new Error("a"), new TypeError("b")], "both"),
      "AggregateError",
      "both (1 of 2: a; 2 of 2: b)",
    ],
    [failed({ status: 503 }), "Error", "it failed (HTTP 503)"],
  ];
  for (const [thrown, code, message] of THROWN) {
    it(`says what was thrown: ${message}`, () => {
      const error = describeError(thrown);
      expect([error.code, error.message]).to.deep.equal([code, message]);
      expect(error.stack)
        .to.match(new RegExp(`^${code}: `))
        .and.not.include("undefined:");
    });
  }

  it("has the stacks of causes and of all errors", () => {
    const thrown = new AggregateError([new RangeError("one")], "all", { cause: new TypeError("why") });
    expect(describeError(thrown).stack).to.match(
      /^AggregateError: all\n[\s\S]*\n1 of 1: RangeError: one\n +at [\s\S]*\nCaused by: TypeError: why\n +at /,
    );
  });

  it("is read whatever its getters and proxies do", () => {
    const thrower = () => {
      throw new Error("gotcha");
    };
    const hostile = [
      Object.defineProperty({}, "message", { get: thrower }),
      Object.defineProperty(new Error("x"), "response", { get: thrower }),
      new Proxy({}, { get: thrower, has: thrower, getPrototypeOf: thrower, ownKeys: thrower }),
      Object.defineProperty(new Error("x"), "stack", { get: thrower }),
    ];
    for (const thrown of hostile)
      expect(describeError(thrown).message).to.equal("a value was thrown that can't be read");
  });

  it("is bounded in bytes, and takes no long for a large response or a circle of causes", async () => {
    const large = "ä".repeat(5_000_000);
    const circle: Error & { errors?: unknown[] } = new Error(large);
    circle.cause = circle;
    circle.errors = Array.from({ length: 1000 }, () => circle);
    const deep: unknown[] = [];
    deep.push(
      deep,
      Array.from({ length: 100_000 }, (_, n) => ({ n })),
    );
    const thrown = [
      circle,
      failed({ response: { status: 422, data: { deep, large } } }),
      large,
      failed({ name: large }),
    ];
    const startedAt = performance.now();
    for (const one of thrown) {
      const { code, message, stack } = await described(one);
      expect(Buffer.byteLength(code)).to.be.at.most(100);
      expect(Buffer.byteLength(message)).to.be.at.most(MAX_ERROR_MESSAGE);
      expect(Buffer.byteLength(stack)).to.be.at.most(MAX_STACK);
    }
    const { message } = await described(failed({ response: { status: 422, data: large } }));
    expect(Buffer.byteLength(message)).to.be.within(1000, 1100);
    expect(performance.now() - startedAt).to.be.lessThan(5000);
  });

  it("does not wait for a body that never ends", async () => {
    const endless = new Readable({ read() {} });
    endless.push("the beginning");
    expect((await described(failed({ response: { status: 500, body: endless } }))).message).to.include(
      "HTTP 500",
    );
  });
});

describe("a text for the author", () => {
  it("keeps the word own and what follows it", () => {
    for (const text of ["own: 3 (of 5)", "at your own: value (x)", "on its own: at 10:30:00"])
      expect(authorText(text)).to.equal(text);
  });

  it("has the author's names of files in places and frames", () => {
    const stack =
      "Error: x\n    at own:lib/a%20b.cjs (own:lib/a%20b.cjs:3:9)\n    at Object.own:c.cjs (own:c.cjs:1:2)";
    expect(authorText(stack)).to.equal(
      "Error: x\n    at lib/a b.cjs (lib/a b.cjs:3:9)\n    at Object.c.cjs (c.cjs:1:2)",
    );
  });
});

describe("masked secrets", () => {
  it("are the values that the call has as secrets, whatever they look like", () => {
    const component = {
      props: { key: { type: "string", secret: true }, word: "string", app: { type: "app" } },
    };
    const props = {
      key: "a plain phrase",
      word: "not a secret",
      app: {
        $auth: { oauth_access_token: "t0k en/value", api_url: "https://a.example.com", region: "eu-west-1" },
      },
    };
    const secrets = secretsOf(component, { props });
    const text =
      "a plain phrase, not a secret, t0k en/value, t0k%20en%2Fvalue, https://a.example.com, eu-west-1";
    expect(maskSecrets(text, secrets)).to.equal(
      "***, not a secret, ***, ***, https://a.example.com, eu-west-1",
    );
  });

  it("are masked as JSON writes them, and where a text was cut within one", () => {
    const component = { props: { key: { type: "string", secret: true } } };
    const secrets = secretsOf(component, { props: { key: 'first "line"\nsecond line' } });
    expect(maskSecrets(String.raw`{"key":"first \"line\"\nsecond line"}`, secrets)).to.equal('{"key":"***"}');
    expect(maskSecrets('the key is first "line"\nsec', secrets)).to.equal("the key is ***");
    expect(maskSecrets("the key is first", secrets)).to.equal("the key is first");
    expect(secretsOf(component, { props: { key: "half a pair \ud800" } })).to.include("half a pair \ud800");
  });

  for (const part of ["a", "token-", "token: ", "a.", "://", "Basic ", "&key="])
    it(`take no long time in a long text of ${part}`, function () {
      this.timeout(1000);
      maskSecrets(part.repeat(32_768 / part.length), []);
    });

  const TEXTS: [text: string, masked: string][] = [
    [`Authorization: Bearer ${SECRET}`, "Authorization: Bearer ***"],
    ["Basic dXNlcjpwYXNzd29yZA== was rejected", "Basic *** was rejected"],
    [`GET https://a.example/?page=2&api_key=${SECRET}&x=1`, "GET https://a.example/?page=2&api_key=***&x=1"],
    ["https://a.example/f?sig=abc%2Fdef&code=1234", "https://a.example/f?sig=***&code=***"],
    ["postgres://user:hunter2@db.example/x", "postgres://***@db.example/x"],
    [`{"access_token":"${SECRET}","n":1}`, '{"access_token":"***","n":1}'],
    [`x-auth-token: ${SECRET}`, "x-auth-token: ***"],
    [`client_secret=${SECRET}&grant_type=x`, "client_secret=***&grant_type=x"],
    // What an author has to read:
    ['{"error":"invalid_token"}', '{"error":"invalid_token"}'],
    ['{"password":"is too short"}', '{"password":"is too short"}'],
    ["Basic authentication is required", "Basic authentication is required"],
    ["token expired yesterday", "token expired yesterday"],
  ];
  for (const [text, masked] of TEXTS)
    it(`are masked as ${masked}`, () => expect(maskSecrets(text, [])).to.equal(masked));
});
