import { randomBytes } from "node:crypto";
import { expect } from "chai";
import { Type } from "typebox";
import { createIdempotency } from "../../src/http/idempotency.ts";
import { type AnyRoute, data, empty, routeFor } from "../../src/http/route.ts";
import { AppError } from "../../src/lib/errors.ts";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { openProducerRedis } from "../../src/store/connections/redis.ts";
import { singleServer } from "../../src/store/connections/redis-url.ts";
import { createSecrets } from "../../src/store/secrets.ts";
import { until } from "../support/until.ts";
import { type DemoServer, type Deps, startDemo } from "./demo-server.ts";
import { openTestRedis, type TestRedis } from "./redis.ts";

const route = routeFor<Deps>();
const common = { method: "POST", audit: null, tag: "T", summary: "T", access: { kind: "owner" } } as const;
let release: () => void = () => {};
let failures = 0;

const routes: AnyRoute<Deps>[] = [
  route({
    ...common,
    path: "/orders",
    id: "order",
    query: Type.Object({ item: Type.String() }),
    body: Type.Object({ a: Type.Optional(Type.Integer()), b: Type.Optional(Type.Integer()) }),
    response: data(201, Type.Object({ number: Type.Integer(), signing_key: Type.String() })),
    handler: async ({ deps }) => ({ number: deps.calls.push("order"), signing_key: "whsec_visible" }),
  }),
  route({
    ...common,
    path: "/slow",
    id: "slow",
    response: empty(),
    handler: async ({ deps }) => {
      deps.calls.push("slow");
      await new Promise<void>(resolve => {
        release = resolve;
      });
    },
  }),
  route({
    ...common,
    path: "/rejected",
    id: "rejected",
    response: empty(),
    handler: async ({ deps }) => {
      throw new AppError("conflict", `rejected ${deps.calls.push("rejected")}`);
    },
  }),
  route({
    ...common,
    path: "/flaky",
    id: "flaky",
    response: empty(),
    handler: async () => {
      failures += 1;
      if (failures === 1) throw new AppError("unavailable", "not now");
    },
  }),
];

const NOTE = "x".repeat(200_000);
const notes = new Map<string, { id: string; text: string }>();
const Note = Type.Object({ id: Type.String(), text: Type.String() });
routes.push(
  route({
    ...common,
    path: "/notes",
    id: "note",
    response: data(201, Note),
    handler: async ({ deps }) => {
      const note = { id: `note${deps.calls.push("note")}`, text: NOTE };
      notes.set(note.id, note);
      return note;
    },
  }),
  route({
    ...common,
    method: "GET",
    path: "/notes/{id}",
    id: "readNote",
    access: { kind: "resource", what: "note", load: async (_deps, id) => notes.get(id) ?? null },
    response: data(200, Note),
    handler: async ({ resource }) => resource,
  }),
);

describe("http/idempotency", () => {
  let store: TestRedis;
  let demo: DemoServer;
  const secrets = createSecrets([randomBytes(32)]);
  const keyOf = (identity: string) => `${store.prefix}:${identity}`;

  before(async () => {
    store = await openTestRedis();
    demo = await startDemo({
      routes,
      idempotency: createIdempotency({ redis: store.redis, keyOf, ...secrets, longestRequestMs: 60_000 }),
    });
  });
  after(async () => {
    await demo.close();
    await store.close();
  });

  const post = (path: string, idempotencyKey: string, more: { key?: string; body?: unknown } = {}) =>
    demo.send({ method: "POST", path, headers: { "idempotency-key": idempotencyKey }, ...more });

  it("handles a request once and sends the same response for a repeated one", async () => {
    const first = await post("/v1/orders?item=a", "k1", { body: { a: 1, b: 2 } });
    const again = await post("/v1/orders?item=a", "k1", { body: { a: 1, b: 2 } });
    expect([first.status, again.status]).to.deep.equal([201, 201]);
    expect(again.text).to.equal(first.text);
    expect(again.headers["content-type"]).to.equal(first.headers["content-type"]);
    expect(again.headers["idempotency-replayed"]).to.equal("true");
    expect(again.headers["x-request-id"]).not.to.equal(first.headers["x-request-id"]);
  });

  it("distinguishes callers, routes and keys, and handles every request without a key", async () => {
    const number = async (key: string, more = {}) =>
      (await post("/v1/orders?item=a", key, more)).json.data.number;
    const numbers = [await number("k2"), await number("k3"), await number("k2", { key: "key-bob" })];
    for (let i = 0; i < 2; i++) {
      numbers.push((await demo.send({ method: "POST", path: "/v1/orders?item=a" })).json.data.number);
    }
    expect(new Set(numbers).size).to.equal(5);
    expect((await post("/v1/rejected", "k2")).status).to.equal(409);
  });

  it("rejects a key that was used for a different request", async () => {
    await post("/v1/orders?item=a", "k4");
    for (const [path, body] of [["/v1/orders?item=b"], ["/v1/orders?item=a", { a: 1 }]] as const) {
      const response = await post(path, "k4", { body });
      expect([response.status, response.json.detail]).to.deep.equal([
        409,
        "the Idempotency-Key was already used for a different request",
      ]);
    }
  });

  const same: [string, string][] = [
    ['{"a":7615917337495251231}', '{"a":7615917337495251232}'],
    ['{"a":1}', '{"a":1.0}'],
    ['{"a":0}', '{"a":-0}'],
    ['{"a":1,"b":2}', '{"b":2,"a":1}'],
    ['{"a":1}', '{"a": 1}'],
    ['{"a":1}', '{"a":2,"a":1}'],
  ];
  for (const [first, other] of same) {
    it(`takes ${other} for another request than ${first}, although JavaScript sees the same`, async () => {
      const send = (body: string) =>
        demo.send({
          method: "POST",
          path: "/v1/orders?item=a",
          headers: { "idempotency-key": first + other, "content-type": "application/json" },
          body,
        });
      const statuses = [await send(first), await send(other), await send(first)].map(({ status }) => status);
      expect(statuses).to.deep.equal([201, 409, 201]);
    });
  }

  it("rejects a repeated request while the first is in progress, with Retry-After", async () => {
    const first = post("/v1/slow", "k5");
    await until(() => demo.deps.calls.includes("slow"));
    const second = await post("/v1/slow", "k5");
    expect([second.status, second.headers["retry-after"]]).to.deep.equal([409, "1"]);
    release();
    expect((await first).status).to.equal(204);
    const third = await post("/v1/slow", "k5");
    expect([third.status, third.text]).to.deep.equal([204, ""]);
    expect(demo.deps.calls.filter(call => call === "slow")).to.have.length(1);
  });

  describe("with records that expire soon", () => {
    const inFlightMs = 600;
    let short: DemoServer;
    const start = async (longestRequestMs: number, changes: { inFlightMs?: number } = { inFlightMs }) => {
      const options = { redis: store.redis, keyOf, ...secrets, ...changes, longestRequestMs };
      short = await startDemo({ routes, idempotency: createIdempotency(options) });
    };
    const slow = (key: string) =>
      short.send({ method: "POST", path: "/v1/slow", headers: { "idempotency-key": key } });
    const calls = () => short.deps.calls.filter(call => call === "slow").length;
    /** Starts a request that does not end, and returns the key of its record. */
    const begin = async (key: string) => {
      const before = new Set(await store.redis.keys(`${store.prefix}*`));
      const response = slow(key);
      await until(() => calls() === 1);
      const [record = ""] = (await store.redis.keys(`${store.prefix}*`)).filter(name => !before.has(name));
      return { response, record };
    };
    afterEach(async () => {
      release();
      await short.close();
    });

    it("keeps it for as long as docs/limits.md says, by default", async () => {
      await start(60_000, {});
      const { record } = await begin("k-default");
      const most = LIMITS.idempotencyInFlightMs.value;
      expect(await store.redis.pttl(record)).to.be.within(most / 2, most);
    });

    it("keeps the record of a request however long its handler runs, even if Redis loses it", async () => {
      await start(60_000);
      const { response, record } = await begin("k10");
      for (let round = 0; round < 2; round++) {
        await store.redis.pexpire(record, inFlightMs / 3);
        await until(async () => (await store.redis.pttl(record)) > inFlightMs / 2);
      }
      await store.redis.del(record);
      await until(async () => (await store.redis.exists(record)) === 1);
      expect(await store.redis.pttl(record)).to.be.at.most(inFlightMs);
      expect((await slow("k10")).status).to.equal(409);
      expect(calls()).to.equal(1);
      release();
      expect((await response).status).to.equal(204);
      expect((await slow("k10")).headers["idempotency-replayed"]).to.equal("true");
      expect(calls()).to.equal(1);
    });

    it("frees the key of a request that is not renewed, as when its process was killed", async () => {
      await start(0);
      const { response, record } = await begin("k11");
      const releaseFirst = release;
      await until(async () => (await store.redis.exists(record)) === 0);
      const again = slow("k11");
      await until(() => calls() === 2);
      // The first attempt must not replace the record of the second.
      releaseFirst();
      await response;
      expect((await slow("k11")).status).to.equal(409);
      release();
      expect((await again).status).to.equal(204);
    });
  });

  it("handles one of many equal requests that arrive at once", async () => {
    const before = demo.deps.calls.length;
    const responses = await Promise.all(Array.from({ length: 8 }, () => post("/v1/orders?item=c", "k6")));
    expect(demo.deps.calls.length).to.equal(before + 1);
    expect(responses.map(response => response.status)).to.include(201);
    for (const { status } of responses) expect(status).to.be.oneOf([201, 409]);
  });

  it("repeats an error response too, as a problem", async () => {
    const [first, again] = [await post("/v1/rejected", "k7"), await post("/v1/rejected", "k7")];
    expect(again.json).to.deep.equal(first.json);
    expect(again.headers["content-type"]).to.match(/^application\/problem\+json/);
  });

  it("does not store a 5xx response: a repeated request is handled again", async () => {
    expect((await post("/v1/flaky", "k8")).status).to.equal(503);
    expect((await post("/v1/flaky", "k8")).status).to.equal(204);
  });

  it("stores responses encrypted and for a limited time", async () => {
    await post("/v1/orders?item=a", "k9");
    for (const key of await store.redis.keys(`${store.prefix}*`)) {
      expect(await store.redis.get(key)).not.to.match(/whsec_|signing_key/);
      expect(await store.redis.pttl(key)).to.be.within(
        LIMITS.idempotencyStoredMs.value / 2,
        LIMITS.idempotencyStoredMs.value,
      );
    }
  });

  it("keeps only the id of a large response, and reads the resource again for a repeated request", async () => {
    const first = await post("/v1/notes", "big");
    const again = await post("/v1/notes", "big");
    expect([again.status, again.text, again.headers["idempotency-replayed"]]).to.deep.equal([
      ...[201, first.text],
      "true",
    ]);
    const sizes = await Promise.all(
      (await store.redis.keys(`${store.prefix}*`)).map(key => store.redis.strlen(key)),
    );
    expect(Math.max(...sizes)).to.be.below(8192);
    notes.clear();
    expect((await post("/v1/notes", "big")).status, "deleted since").to.equal(404);
  });

  it("keeps a bounded number of bytes for an account in an hour: 429 for a new key, not for a repeated one", async () => {
    const bounded = await startDemo({
      routes,
      idempotency: createIdempotency({
        redis: store.redis,
        keyOf: identity => keyOf(`bounded:${identity}`),
        ...secrets,
        longestRequestMs: 60_000,
        bytesPerHour: async () => 1000,
      }),
    });
    const send = (key?: string) =>
      bounded.send({
        method: "POST",
        path: "/v1/orders?item=a",
        headers: key === undefined ? {} : { "idempotency-key": key },
      });
    const statuses: number[] = [];
    for (let i = 0; statuses.at(-1) !== 429; i++) statuses.push((await send(`n${i}`)).status);
    expect(statuses.length).to.be.within(2, 6);
    const rejected = await send("another");
    expect([rejected.status, Number(rejected.headers["retry-after"]) > 0]).to.deep.equal([429, true]);
    expect((await send("n0")).headers["idempotency-replayed"]).to.equal("true");
    expect((await send()).status).to.equal(201);
    await bounded.close();
  });

  it("rejects a key that is too long", async () => {
    const response = await post("/v1/orders?item=a", "x".repeat(LIMITS.idempotencyKeyCharacters.value + 1));
    expect(response.json.errors).to.deep.equal([
      {
        in: "header",
        path: "Idempotency-Key",
        message: `must have at most ${LIMITS.idempotencyKeyCharacters.value} characters`,
      },
    ]);
  });

  it("responds 500 to a fault of its own, which is no Redis that is away", async () => {
    await post("/v1/orders?item=a", "fault");
    const stored = await store.redis.keys(`${store.prefix}*`);
    for (const key of stored) if ((await store.redis.type(key)) === "string") await store.redis.del(key);
    for (const key of stored) await store.redis.lpush(key, "not a record");
    expect((await post("/v1/orders?item=a", "fault")).status).to.equal(500);
    await store.redis.del(...stored);
  });

  it("responds 503 without Redis before doing any work; requests without a key pass", async () => {
    const redis = openProducerRedis(singleServer("redis://127.0.0.1:1"));
    redis.on("error", () => undefined);
    const cut = await startDemo({
      routes,
      idempotency: createIdempotency({ redis, keyOf, ...secrets, longestRequestMs: 60_000 }),
    });
    const headers = { "idempotency-key": "k1" };
    const response = await cut.send({ method: "POST", path: "/v1/orders?item=a", headers });
    expect([response.status, response.headers["retry-after"], cut.deps.calls]).to.deep.equal([503, "1", []]);
    expect((await cut.send({ method: "POST", path: "/v1/orders?item=a" })).status).to.equal(201);
    await cut.close();
    redis.disconnect();
  });
});
