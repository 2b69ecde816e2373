import { expect } from "chai";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { PASSWORD } from "../support/account-redis.ts";
import type { Api } from "../support/api.ts";
import { type System, startSystem } from "../support/system.ts";

const SOURCE = `export default { name: "Keyed", version: "1", props: {
  token: { type: "string", secret: true }, chat: { type: "app", app: "chat" }, shop: "string" }, run() {} };`;
const ACTION = `export default { name: "Note", version: "1", type: "action",
  props: { token: { type: "string", secret: true }, note: "string" }, run() {} };`;

describe("POST /secrets/compare", () => {
  let system: System;
  let api: Api;
  before(async () => {
    system = await startSystem();
  });
  beforeEach(async () => {
    api = await system.user();
  });
  after(() => system.stop());

  const compare = async (id: string, secrets: object): Promise<string[]> =>
    (await api.expect(200, "POST", "/secrets/compare", { body: { id, secrets } })).differ;
  const create = async (path: string, body: object): Promise<string> =>
    (await api.expect(201, "POST", path, { body })).id;
  const webhook = () =>
    create("/webhooks", { url: "http://127.0.0.1:1/", headers: { "X-Key": "  k1 ", authorization: "a" } });

  it("compares secret props and credentials of a source", async () => {
    const chat = { $auth: { key: "c1", nested: { b: 1, a: 2 } } };
    const id = await create("/sources", {
      component_code: SOURCE,
      configured_props: { token: "t1", chat, shop: "north" },
    });
    expect(
      await compare(id, { token: "t1", chat: { $auth: { nested: { a: 2, b: 1 }, key: "c1" } } }),
    ).to.deep.equal([]);
    expect(await compare(id, { token: "t2", chat })).to.deep.equal(["token"]);
    // What is shown is not compared, nor what a source does not have.
    expect(await compare(id, { shop: "north", toString: "x" })).to.deep.equal(["shop", "toString"]);
  });

  it("compares headers of a webhook as they are stored", async () => {
    const id = await webhook();
    expect(await compare(id, { headers: { Authorization: "a", "x-key": "k1" } })).to.deep.equal([]);
    expect(await compare(id, { headers: { authorization: "a" } })).to.deep.equal(["headers"]);
    const wrong = await api.request("POST", "/secrets/compare", {
      body: { id, secrets: { headers: { host: "x" } } },
    });
    expect([wrong.status, wrong.body.detail]).to.deep.equal([400, wrong.body.detail]);
    expect(wrong.body.detail).to.match(/headers\.host/);
  });

  it("compares the secret of a destination, of an action and of a connection", async () => {
    const stream = { url: `redis://:${PASSWORD}@127.0.0.1:1`, stream: "orders" };
    const archive = await create("/destinations", { redis_stream: stream });
    expect(await compare(archive, { password: PASSWORD })).to.deep.equal([]);
    expect(await compare(archive, { password: "p", stream: "orders" })).to.deep.equal(["password", "stream"]);
    const props = { token: "t1", note: "n" };
    const action = await create("/destinations", {
      action: { component_code: ACTION, configured_props: props },
    });
    expect(await compare(action, { token: "t1" })).to.deep.equal([]);
    expect(await compare(action, { token: "t2", note: "n" })).to.deep.equal(["token", "note"]);
    const fields = { api_key: "k1" };
    const connection = await create("/connections", { app: "weather", fields });
    expect(await compare(connection, { fields })).to.deep.equal([]);
    expect(await compare(connection, { fields: { ...fields, more: "m" } })).to.deep.equal(["fields"]);
    expect(await compare(connection, { verify: [] }), "not verified").to.deep.equal(["verify"]);
    const verify = { preset: "github", secrets: ["one", "two"] };
    await api.expect(200, "PUT", `/connections/${connection}`, { body: { verify } });
    expect(await compare(connection, { verify: ["one", "two"] })).to.deep.equal([]);
    expect(await compare(connection, { verify: ["one", "three"] })).to.deep.equal(["verify"]);
  });

  it("knows no thing of another account, and no other kind of thing", async () => {
    const id = await webhook();
    const other = await system.user();
    for (const [caller, named] of [
      [other, id],
      [api, "wh_0000000000000000"],
      [api, "p_0000000000000000"],
      [api, "x"],
    ] as const) {
      const { status } = await caller.request("POST", "/secrets/compare", {
        body: { id: named, secrets: { headers: { authorization: "a" } } },
      });
      expect(status, named).to.equal(404);
    }
  });

  it("says nothing more, also of what is right, once too many of a thing were wrong", async () => {
    const [guessed, other] = await Promise.all([webhook(), webhook()]);
    const headers = { authorization: "a", "x-key": "k1" };
    const guesses = Array.from({ length: LIMITS.secretGuesses.value * 2 }, (_, n) =>
      api.request("POST", "/secrets/compare", {
        body: { id: guessed, secrets: { headers: { ...headers, authorization: `guess ${n}` } } },
      }),
    );
    const statuses = (await Promise.all(guesses)).map(({ status }) => status);
    expect(statuses.filter(status => status === 200)).to.have.length(LIMITS.secretGuesses.value);
    expect(statuses.filter(status => status === 429)).to.have.length(LIMITS.secretGuesses.value);
    const right = await api.request("POST", "/secrets/compare", {
      body: { id: guessed, secrets: { headers } },
    });
    expect([right.status, right.body.detail]).to.deep.equal([429, "too many wrong secrets for this id"]);
    expect(Number(right.headers.get("retry-after"))).to.be.within(1, 60 * 60);
    for (let n = 0; n < LIMITS.secretGuesses.value * 2; n++)
      expect(await compare(other, { headers })).to.deep.equal([]);
  });
});
