import { expect } from "chai";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { ApiKeys } from "../../src/models/user.ts";
import { Api } from "../support/api.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";

describe("a user's own API keys", () => {
  let system: System;
  let api: Api & { userId: string };
  before(async () => {
    system = await startSystem({}, { workers: false });
  });
  after(() => system.stop());
  beforeEach(async () => {
    api = await system.user();
  });

  const list = () => api.expect(200, "GET", "/api_keys");

  it("are created, shown once, listed with how they begin and when they were used, and revoked", async () => {
    const created = await api.expect(201, "POST", "/api_keys", { body: { name: "deploy" } });
    const other = new Api(system.baseUrl, created.api_key);
    expect(await other.expect(200, "GET", "/users/me")).to.include({ id: api.userId });
    const used = await until(async () => {
      const [row] = await list();
      return row.last_used_at !== null && row;
    });
    expect(used).to.include({
      id: created.id,
      name: "deploy",
      prefix: created.api_key.slice(0, 7),
      revoked_at: null,
    });
    expect(used.last_used_at).to.be.within(created.created_at, created.created_at + 60);
    expect(JSON.stringify(await list())).not.to.include(created.api_key);
    await api.expect(204, "DELETE", `/api_keys/${created.id}`);
    await api.expect(204, "DELETE", `/api_keys/${created.id}`);
    expect((await other.request("GET", "/users/me")).status).to.equal(401);
    expect((await list())[0].revoked_at).to.be.at.least(created.created_at);
  });

  it("can't be more than some: the oldest revoked ones go first", async () => {
    const keys = ApiKeys(system.worker.mongo);
    const [own] = await keys.find({ user_id: api.userId }).lean();
    const rows = Array.from({ length: LIMITS.apiKeys.value - 1 }, (_, i) => {
      const n = String(i).padStart(3, "0");
      return {
        ...own,
        _id: `key_0000000000000${n}`,
        hash: `${api.userId}-${n}`,
        revoked_at: i < 2 ? 1 : null,
      };
    });
    await keys.insertMany(rows);
    for (let i = 0; i < 2; i++) await api.expect(201, "POST", "/api_keys");
    const left = await keys.find({ user_id: api.userId, revoked_at: { $ne: null } }).lean();
    expect(left).to.deep.equal([]);
    expect((await api.request("POST", "/api_keys")).body.type).to.equal("/docs/errors#limit-reached");
    expect(await keys.countDocuments({ user_id: api.userId })).to.equal(LIMITS.apiKeys.value);
    await keys.deleteMany({ user_id: api.userId });
  });

  for (const name of ["", "x".repeat(129), 1, null]) {
    it(`can't be called ${JSON.stringify(name)?.slice(0, 12)}`, async () => {
      expect((await api.request("POST", "/api_keys", { body: { name } })).status).to.equal(400);
    });
  }
});
