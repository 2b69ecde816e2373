import { expect } from "chai";
import { setOperator } from "../../src/accounts/operators.ts";
import { newId } from "../../src/lib/ids.ts";
import { Organizations } from "../../src/models/organization.ts";
import { rejection } from "../components/rejection.ts";
import { Api } from "../support/api.ts";
import { type System, startSystem } from "../support/system.ts";

describe("users and organizations by the API", () => {
  let system: System;
  before(async () => {
    system = await startSystem({ FREE_LIMITS: "organizations=2" }, { workers: false });
  });
  after(() => system.stop());

  const create = (api: Api, body: object) => api.request("POST", "/orgs", { body });
  const operator = async () => {
    const api = await system.user();
    await setOperator(system.worker, api.userId, true);
    return api;
  };

  it("let a user make organizations, of which the plan allows some, and rename them", async () => {
    const anna = await system.user();
    const made = await anna.expect(201, "POST", "/orgs", { body: { name: "Acme & Co" } });
    expect(made).to.include({ name: "Acme & Co" });
    expect(made.orgname).to.match(/^acme-co-/);
    // As the slugs of sources: a letter with an accent is that letter.
    const named = async (name: string) => (await create(await operator(), { name })).body.data.orgname;
    expect(await named("Über Ärger")).to.match(/^uber-arger-\w{6}$/);
    expect(await named("東京")).to.match(/^org-\w{6}$/);
    const [org] = (await anna.expect(200, "GET", "/users/me")).orgs;
    expect(org).to.include({ id: made.id, role: "owner" });
    const renamed = await anna.expect(200, "PUT", `/orgs/${made.id}`, { body: { name: "Acme" } });
    expect(renamed).to.deep.equal({ ...made, name: "Acme" });
    for (const name of ["", "  ", "x".repeat(129)]) {
      expect((await anna.request("PUT", `/orgs/${made.id}`, { body: { name } })).status, name).to.equal(400);
    }
    // Those that others made don't count.
    await system.organization(anna.userId);
    expect((await create(anna, { name: "Second" })).status).to.equal(201);
    const beyond = await create(anna, { name: "Third" });
    expect([beyond.status, beyond.body.type]).to.deep.equal([403, "/docs/errors#limit-reached"]);
    const { limits, usage } = await anna.expect(200, "GET", "/users/me");
    expect([limits.organizations, usage.organizations]).to.deep.equal([2, 2]);
  });

  it("are made for others by operators only, who see nothing of theirs", async () => {
    const [anna, olga] = [await system.user(), await operator()];
    const body = { email: `Bert-${newId("u")}@Example.test` };
    expect((await anna.request("POST", "/users", { body })).status).to.equal(403);
    expect((await create(anna, { name: "Hers", owner_id: olga.userId })).status).to.equal(403);
    expect((await anna.expect(200, "GET", "/users/me")).is_operator).to.equal(false);
    expect((await olga.expect(200, "GET", "/users/me")).is_operator).to.equal(true);

    const made = await olga.expect(201, "POST", "/users", { body });
    expect(made).to.include({ email: body.email.toLowerCase(), plan: "free" });
    const bert = new Api(system.baseUrl, made.api_key);
    expect(await bert.expect(200, "GET", "/users/me")).to.include({ id: made.id, username: made.username });
    expect((await olga.request("POST", "/users", { body })).status, "the same address").to.equal(409);
    for (const email of ["no address", "a@b c"]) {
      expect((await olga.request("POST", "/users", { body: { email } })).status, email).to.equal(400);
    }

    const { id } = (await create(olga, { name: "His", owner_id: made.id })).body.data;
    expect((await bert.expect(200, "GET", "/users/me")).orgs).to.have.nested.property("[0].role", "owner");
    expect((await olga.request("GET", `/orgs/${id}/members`)).status).to.equal(404);
    expect((await Organizations(system.worker.mongo).findById(id).lean())?.created_by).to.equal(undefined);
    expect((await create(olga, { name: "Without an owner", owner_id: newId("u") })).status).to.equal(404);
  });

  it("end for an operator at once, and an unknown user can't be one", async () => {
    const olga = await operator();
    await setOperator(system.worker, olga.userId, false);
    const body = { email: `${newId("u")}@example.test` };
    expect((await olga.request("POST", "/users", { body })).status).to.equal(403);
    expect((await rejection(setOperator(system.worker, newId("u"), true))).code).to.equal("not-found");
  });
});
