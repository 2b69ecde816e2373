import { expect } from "chai";
import { findCaller, hashOf } from "../../src/accounts/api-keys.ts";
import { callerOf, checkProof, makeLink } from "../../src/accounts/sessions/authenticate.ts";
import { startSession } from "../../src/accounts/sessions/sessions.ts";
import { newId } from "../../src/lib/ids.ts";
import { unixSeconds } from "../../src/lib/time.ts";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { Sessions } from "../../src/models/session.ts";
import { ApiKeys } from "../../src/models/user.ts";
import { Api } from "../support/api.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";

const DAY_S = 86_400;

describe("an API key that may not do everything, or ends", () => {
  let system: System;
  let api: Api & { userId: string };
  before(async () => {
    system = await startSystem({}, { workers: false });
  });
  after(() => system.stop());
  beforeEach(async () => {
    api = await system.user();
  });

  const now = () => unixSeconds(Date.now());
  const create = (body: object, by: Api = api) => by.request("POST", "/api_keys", { body });
  const keyed = async (body: object, by: Api = api) => {
    const { status, body: made, text } = await create(body, by);
    expect(status, text).to.equal(201);
    return Object.assign(new Api(system.baseUrl, made.data.api_key), { id: made.data.id as string });
  };
  const workflow = async (by: Api = api, query = {}): Promise<string> =>
    (await by.expect(201, "POST", "/workflows", { body: { name: "Flow" }, query })).id;
  const publish = (by: Api, id: string) =>
    by.request("POST", `/workflows/${id}/events`, { body: { event: 1 } });

  it("is listed with what it may do, and one without limits as before", async () => {
    const emitter_ids = [await workflow()];
    const expires_at = now() + DAY_S;
    await create({ name: "shop", access: "publish", emitter_ids, expires_at });
    await create({ name: "all" });
    const [all, shop, first] = await api.expect(200, "GET", "/api_keys");
    expect(shop).to.deep.include({ name: "shop", access: "publish", emitter_ids, expires_at });
    expect(all).to.deep.include({ access: "full", emitter_ids: null, expires_at: null });
    expect(first).to.deep.include({ access: "full", emitter_ids: null, expires_at: null });
  });

  it("publishes to the emitters that it is bound to, and learns nothing of others", async () => {
    const [bound, other] = [await workflow(), await workflow()];
    const strangers = await workflow(await system.user());
    const key = await keyed({ access: "publish", emitter_ids: [bound] });
    expect((await publish(key, bound)).status).to.equal(202);
    const rejected = await Promise.all([other, strangers, newId("p"), "Flow"].map(id => publish(key, id)));
    for (const { status, body } of rejected) {
      expect(status).to.equal(403);
      expect(body.detail).to.include("emitter_ids");
      expect(body).to.deep.equal(rejected[0]?.body);
    }
    expect((await publish(await keyed({ access: "publish" }), other)).status).to.equal(202);
    // It stays bound to what is gone.
    await api.expect(204, "DELETE", `/workflows/${bound}`);
    expect((await publish(key, bound)).status).to.equal(404);
    expect((await publish(key, other)).status).to.equal(403);
  });

  it("is bound to what its maker can read: in organizations too, and to nothing else", async () => {
    const org_id = await system.organization(api.userId);
    const [shared, hidden] = [await workflow(api, { org_id }), await workflow(await system.user())];
    const key = await keyed({ access: "publish", emitter_ids: [shared] });
    expect((await publish(key, shared)).status).to.equal(202);
    const absent = newId("p");
    const foreign = await create({ access: "publish", emitter_ids: [shared, hidden] });
    const unknown = await create({ access: "publish", emitter_ids: [absent] });
    expect([foreign.status, foreign.body.detail]).to.deep.equal([404, `emitter ${hidden} not found`]);
    expect([unknown.status, unknown.body.detail]).to.deep.equal([404, `emitter ${absent} not found`]);
  });

  it("is rejected with what is wrong with it", async () => {
    const emitter = await workflow();
    const tooMany = Array.from({ length: LIMITS.apiKeyEmitters.value + 1 }, () => newId("p"));
    const latest = now() + LIMITS.apiKeyLifeMs.value / 1000;
    const wrong: [object, RegExp][] = [
      [{ access: "write" }, /access/],
      [{ access: null }, /access/],
      [{ access: ["read"] }, /access/],
      [{ expires_at: now() }, /expires_at: must be in the future/],
      [{ expires_at: 0 }, /expires_at: must be in the future/],
      [{ expires_at: -1 }, /expires_at/],
      [{ expires_at: 1.5 }, /expires_at/],
      [{ expires_at: "2030-01-01" }, /expires_at/],
      [{ expires_at: null }, /expires_at/],
      [{ expires_at: latest + 60 }, /expires_at: must be within 3650 days/],
      [{ expires_at: Number.MAX_SAFE_INTEGER }, /expires_at: must be within/],
      [{ expires_at: 1e300 }, /expires_at/],
      [{ emitter_ids: [emitter] }, /emitter_ids: needs the access publish/],
      [{ access: "read", emitter_ids: [emitter] }, /emitter_ids: needs the access publish/],
      [{ access: "publish", emitter_ids: [] }, /emitter_ids/],
      [{ access: "publish", emitter_ids: emitter }, /emitter_ids/],
      [{ access: "publish", emitter_ids: [emitter, emitter] }, /emitter_ids/],
      [{ access: "publish", emitter_ids: ["p_*"] }, /emitter_ids/],
      [{ access: "publish", emitter_ids: [api.userId] }, /emitter_ids/],
      [{ access: "publish", emitter_ids: [{ $ne: "" }] }, /emitter_ids/],
      [{ access: "publish", emitter_ids: tooMany }, /emitter_ids/],
    ];
    for (const [body, message] of wrong) {
      const { status, body: problem } = await create(body);
      expect(status, JSON.stringify(body).slice(0, 80)).to.equal(400);
      expect(problem.detail).to.match(message);
    }
    expect(await api.expect(200, "GET", "/api_keys")).to.have.length(1);
    expect((await create({ expires_at: latest - 60 })).status).to.equal(201);
  });

  it("makes no key, link or session, unless it may do everything", async () => {
    for (const access of ["read", "publish"]) {
      const key = await keyed({ access });
      const rejected = [
        await create({ access }, key),
        await key.request("POST", "/sign_in_links"),
        await new Api(system.baseUrl, "").request("POST", "/sessions", { body: { api_key: key.apiKey } }),
        await key.request("DELETE", `/api_keys/${key.id}`),
      ];
      for (const { status, body } of rejected) {
        expect(status).to.equal(403);
        expect(body.detail).to.equal(`this needs an API key with the access full; this one has ${access}`);
      }
    }
  });

  it("ends in the second that it says, for what has used it just before, and says so", async () => {
    const expires_at = now() + 2;
    const key = await keyed({ expires_at });
    const { session } = await startSession(system.web, {
      ...(await checkProof(system.web, { api_key: key.apiKey }, async () => undefined)),
      userAgent: "",
    });
    const { token } = await makeLink(system.web, { userId: api.userId, keyId: key.id });
    expect(callerOf(session).endsAtMs).to.equal(expires_at * 1000);
    const rejected = await until(async () => {
      const sentAt = Date.now();
      const response = await key.request("GET", "/users/me");
      if (response.status === 200) {
        expect(sentAt).to.be.below(expires_at * 1000);
        return false;
      }
      return response;
    });
    expect(Date.now()).to.be.at.least(expires_at * 1000);
    expect(rejected.status).to.equal(401);
    expect(rejected.body.detail).to.equal(
      `the API key expired at ${new Date(expires_at * 1000).toISOString()}`,
    );
    const signIn = await new Api(system.baseUrl, "").request("POST", "/sessions", {
      body: { api_key: key.apiKey },
    });
    expect([signIn.status, signIn.body.detail]).to.deep.equal([401, rejected.body.detail]);
    expect(session.expires_at.getTime()).to.equal(expires_at * 1000);
    const redeemed = await checkProof(system.web, { link: token }, async () => undefined).catch(
      error => error.message,
    );
    expect(redeemed).to.equal("the link is unknown, expired or used already");
  });

  it("hands its end on to keys and sessions that are made with it", async () => {
    const expires_at = now() + DAY_S;
    const key = await keyed({ expires_at });
    const { body: heir } = await create({ name: "heir" }, key);
    expect(heir.data.expires_at).to.equal(expires_at);
    expect((await create({ expires_at: expires_at - 60 }, key)).body.data.expires_at).to.equal(
      expires_at - 60,
    );
    const longer = await create({ expires_at: expires_at + 1 }, key);
    expect([longer.status, longer.body.errors?.[0]?.path]).to.deep.equal([400, "expires_at"]);
  });

  it("makes room for others once it has ended, as a revoked one does", async () => {
    const { id } = await keyed({ expires_at: now() + DAY_S });
    const keys = ApiKeys(system.worker.mongo);
    const [own] = await keys.find({ user_id: api.userId }).lean();
    const rows = Array.from({ length: LIMITS.apiKeys.value - 2 }, (_, i) => ({
      ...own,
      _id: `key_${String(i).padStart(16, "0")}`,
      hash: `${api.userId}-${i}`,
    }));
    await keys.insertMany(rows);
    expect((await create({})).body.type).to.equal("/docs/errors#limit-reached");
    await keys.updateOne({ _id: id }, { $set: { expires_at: now() - 1 } });
    await create({});
    expect(await keys.findById(id).lean()).to.equal(null);
    await keys.deleteMany({ user_id: api.userId });
  });

  it("is not found by a release that knows of no limits, in the way that one looks for keys", async () => {
    const foundByOld = async ({ apiKey }: Api) =>
      await ApiKeys(system.worker.mongo)
        .findOne({ hash: hashOf(apiKey), revoked_at: null })
        .lean();
    const limited = [
      await keyed({ access: "read" }),
      await keyed({ access: "publish" }),
      await keyed({ expires_at: now() + 9 }),
    ];
    for (const key of limited) {
      expect(await foundByOld(key)).to.equal(null);
      expect(await findCaller(system.web, key.apiKey)).to.include({ keyId: key.id });
    }
    expect(await foundByOld(await keyed({ access: "full" }))).to.include({ user_id: api.userId });
  });

  it("is full and without an end if an earlier release made it", async () => {
    const row = await ApiKeys(system.worker.mongo).findOne({ user_id: api.userId }).lean();
    expect(row).not.to.have.any.keys("access", "emitter_ids", "expires_at");
    expect(await findCaller(system.web, api.apiKey)).to.deep.include({
      key: { name: null, prefix: api.apiKey.slice(0, 7), access: "full", emitterIds: null },
    });
    const { session } = await startSession(system.web, { userId: api.userId, keyId: null, userAgent: "" });
    expect(await Sessions(system.web.mongo).findById(session._id).lean()).not.to.have.property(
      "key_expires_at",
    );
  });
});
