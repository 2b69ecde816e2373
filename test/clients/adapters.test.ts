import { getRequestListener } from "@hono/node-server";
import { bodyParser } from "@koa/bodyparser";
import { expect } from "chai";
import express from "express";
import fastify from "fastify";
import { Hono } from "hono";
import Koa from "koa";
import {
  fastifyPlugin,
  fetchHandler,
  koaHandler,
  nodeHandler,
  type ReceivedDelivery,
  type ReceiveOptions,
} from "../../clients/typescript/src/webhooks/index.ts";
import { deliver, type Listening, listen, secret } from "./receivers.ts";

/** What is the same for all frameworks: how one is started with a handler, and what the handler got. */
type Start = (options: ReceiveOptions, handle: (delivery: ReceivedDelivery) => unknown) => Promise<Listening>;

/** The text of an event that no parser writes back in the same way. */
const payload = { order: 17, note: "wörld \u2028", amount: 1e21 };

const startExpress: Start = (options, handle) =>
  // Its own handler of errors writes to the console otherwise.
  listen(express().set("env", "test").post("/hook", nodeHandler(options, handle)).use(express.json()));

const startKoa: Start = (options, handle) => {
  const app = new Koa({ proxy: false }).use(koaHandler(options, handle));
  app.silent = true;
  return listen(app.callback());
};

const startFastify: Start = async (options, handle) => {
  const app = fastify();
  app.post("/json", async request => ({ parsed: request.body }));
  await app.register(fastifyPlugin("/hook", options, handle));
  const address = await app.listen({ port: 0, host: "127.0.0.1" });
  return { url: `${address}/hook`, close: () => app.close() };
};

/** A server of `node:http` that makes `Request`s, as the platforms do that have them. */
const startFetch: Start = (options, handle) => {
  const handler = fetchHandler(options, handle);
  return listen(async (message, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of message) chunks.push(chunk);
    const headers = message.headers as Record<string, string>;
    const request = new Request("http://localhost/hook", {
      method: "POST",
      headers,
      body: Buffer.concat(chunks),
    });
    const { status, text } = await handler(request).then(
      async given => ({ status: given.status, text: await given.text() }),
      () => ({ status: 500, text: "" }),
    );
    response.writeHead(status).end(text);
  });
};

const startHono: Start = async (options, handle) => {
  const receive = fetchHandler(options, handle);
  const app = new Hono();
  app.post("/hook", context => receive(context.req.raw));
  app.onError((_, context) => context.text("", 500));
  return listen(getRequestListener(app.fetch));
};

const startNode: Start = (options, handle) =>
  listen(nodeHandler({ onError: () => undefined, ...options }, handle));

const FRAMEWORKS: Record<string, Start> = {
  Express: startExpress,
  Koa: startKoa,
  Fastify: startFastify,
  Hono: startHono,
  "node:http": startNode,
  fetch: startFetch,
};

for (const [name, start] of Object.entries(FRAMEWORKS)) {
  describe(`the receiver for ${name}`, () => {
    let server: Listening;
    let received: ReceivedDelivery[];
    let rejected: string[];
    let handle: (delivery: ReceivedDelivery) => unknown;
    before(async () => {
      const options = {
        secrets: secret,
        maxBytes: 1000,
        onRejected: (error: Error) => void rejected.push(error.message),
      };
      server = await start(options, delivery => handle(delivery));
    });
    beforeEach(() => {
      received = [];
      rejected = [];
      handle = delivery => void received.push(delivery);
    });
    after(() => server.close());

    it("verifies a delivery by the bytes of its body and hands it over", async () => {
      expect((await deliver(server.url, payload)).status).to.equal(200);
      expect(received.map(({ id, payload: event }) => ({ id, event }))).to.deep.equal([
        { id: "dlv_1", event: payload },
      ]);
    });

    it("rejects another body, and says why to both sides", async () => {
      const { status, text } = await deliver(server.url, payload, { body: '{"order":18}' });
      expect([status, text]).to.deep.equal([
        401,
        "webhook-signature: no signature is that of this body with the secret",
      ]);
      expect([rejected, received]).to.deep.equal([[text], []]);
    });

    it("rejects a request without a signature", async () => {
      const { status, text } = await deliver(server.url, payload, { headers: { "webhook-signature": "" } });
      expect([status, text]).to.deep.equal([400, "webhook-signature: the request has no such header"]);
    });

    it("rejects a body that is too large", async () => {
      const { status } = await deliver(server.url, { long: "x".repeat(2000) });
      expect(status).to.equal(413);
      expect(received).to.deep.equal([]);
    });

    it("responds with 500 to what the handler throws, so that it comes again", async () => {
      handle = () => Promise.reject(new Error("the database is away"));
      expect((await deliver(server.url, payload)).status).to.equal(500);
    });
  });
}

describe("a receiver behind a parser", () => {
  let server: Listening | undefined;
  afterEach(() => server?.close());

  const ignore = () => undefined;
  const parsed = /the body was parsed before it came here.*mount this before the JSON parser/;

  it("of Express's JSON gets an error that says what to do", async () => {
    const errors: string[] = [];
    const app = express()
      .use(express.json())
      .post("/hook", nodeHandler({ secrets: secret }, ignore));
    app.use(((error, _request, response, _next) => {
      errors.push(String(error.message));
      response.status(500).end();
    }) as express.ErrorRequestHandler);
    server = await listen(app);
    expect((await deliver(server.url, payload)).status).to.equal(500);
    expect(errors).to.have.lengthOf(1);
    expect(errors[0]).to.match(parsed);
  });

  it("of Express that keeps the bytes verifies them", async () => {
    const got: unknown[] = [];
    const keep = (request: object, _response: object, bytes: Buffer) =>
      Object.assign(request, { rawBody: bytes });
    const handler = nodeHandler({ secrets: secret }, delivery => void got.push(delivery.payload));
    const app = express()
      .use("/hook", express.json({ verify: keep }))
      .post("/hook", handler);
    server = await listen(app.use("/raw", express.raw({ type: "*/*" })).post("/raw", handler));
    expect((await deliver(server.url, payload)).status).to.equal(200);
    expect((await deliver(server.url.replace("hook", "raw"), payload)).status).to.equal(200);
    expect(got).to.deep.equal([payload, payload]);
  });

  it("of Koa that keeps the text verifies it", async () => {
    const got: unknown[] = [];
    const app = new Koa().use(bodyParser());
    app.use(koaHandler({ secrets: secret }, delivery => void got.push(delivery.payload)));
    server = await listen(app.callback());
    expect((await deliver(server.url, payload)).status).to.equal(200);
    expect(got).to.deep.equal([payload]);
  });

  it("of Koa that keeps nothing gets an error that says what to do", async () => {
    const errors: string[] = [];
    const app = new Koa().use(async (context, next) => {
      for await (const chunk of context.req)
        Object.assign(context.request, { body: JSON.parse(String(chunk)) });
      await next();
    });
    app.on("error", error => errors.push(error.message));
    app.use(koaHandler({ secrets: secret }, ignore));
    server = await listen(app.callback());
    expect((await deliver(server.url, payload)).status).to.equal(500);
    expect(errors).to.have.lengthOf(1);
    expect(errors[0]).to.match(parsed);
  });

  it("of node:http that has read the stream responds with the reason", async () => {
    const errors: unknown[] = [];
    const handler = nodeHandler({ secrets: secret, onError: error => errors.push(error) }, ignore);
    server = await listen(async (request, response) => {
      for await (const _ of request);
      await handler(request, response);
    });
    const { status, text } = await deliver(server.url, payload);
    expect(status).to.equal(500);
    expect(text).to.match(/the body was read before it came here.*mount this before the JSON parser/);
    expect(errors).to.have.lengthOf(1);
  });

  it("of a fetch handler that has read the request gets an error that says what to do", async () => {
    const request = new Request("http://localhost/hook", { method: "POST", body: "{}" });
    await request.json();
    const error = await fetchHandler({ secrets: secret }, ignore)(request).catch(reason => reason);
    expect(error.message).to.match(
      /the body was read before it came here.*mount this before the JSON parser/,
    );
  });

  it("of Hono that has read the body gets an error that says what to do", async () => {
    const errors: string[] = [];
    const app = new Hono();
    app.post("/hook", async context => {
      await context.req.json();
      return fetchHandler({ secrets: secret }, ignore)(context.req.raw);
    });
    app.onError((error, context) => {
      errors.push(error.message);
      return context.text("", 500);
    });
    server = await listen(getRequestListener(app.fetch));
    expect((await deliver(server.url, payload)).status).to.equal(500);
    expect(errors).to.have.lengthOf(1);
    expect(errors[0]).to.match(/the body was read before it came here.*mount this before the JSON parser/);
  });

  it("of Fastify leaves the parsers of the other routes alone", async () => {
    server = await startFastify({ secrets: secret }, ignore);
    const response = await fetch(server.url.replace("hook", "json"), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"a":1}',
    });
    expect(await response.json()).to.deep.equal({ parsed: { a: 1 } });
  });
});
