import { expect } from "chai";
import { subscriberAccessNow } from "../../src/accounts/access.ts";
import { addMember } from "../../src/accounts/organizations.ts";
import { endByRule, setRole } from "../../src/accounts/roles.ts";
import type { Role } from "../../src/lib/roles.ts";
import { Memberships, Organizations } from "../../src/models/organization.ts";
import type { Api } from "../support/api.ts";
import { type System, startSystem } from "../support/system.ts";

type User = Api & { userId: string };

describe("the roles of an organization", () => {
  let system: System;
  let anna: User;
  let bert: User;
  let orgId: string;
  let inOrg: { org_id: string };
  before(async () => {
    system = await startSystem({}, { workers: false });
  });
  after(() => system.stop());
  beforeEach(async () => {
    [anna, bert] = [await system.user(), await system.user()];
    orgId = await system.organization(anna.userId);
    inOrg = { org_id: orgId };
  });

  const join = (user: User, role: Role) => addMember(system.worker, orgId, user.userId, role);
  const put = (api: Api, user: User, role: Role) =>
    api.request("PUT", `/orgs/${orgId}/members/${user.userId}`, { body: { role } });
  const roles = async (api: Api): Promise<Record<string, Role>> => {
    const { members } = await api.expect(200, "GET", `/orgs/${orgId}/members`);
    return Object.fromEntries(members.map(({ id, role }: { id: string; role: Role }) => [id, role]));
  };
  const ownerId = async () => (await Organizations(system.worker.mongo).findById(orgId).lean())?.owner_id;

  it("are changed by owners, and hold from the next request on, in every process", async () => {
    await join(bert, "viewer");
    const webhook = (api: Api) =>
      api.request("POST", "/webhooks", { query: { url: "http://127.0.0.1:1/", ...inOrg } });
    const rejected = await webhook(bert);
    expect(rejected.status).to.equal(403);
    expect(rejected.body.detail).to.equal("this needs the role member in the organization");
    expect((await put(bert, bert, "owner")).status, "by a viewer").to.equal(403);

    const changed = await put(anna, bert, "member");
    expect(changed.body.data).to.include({ id: bert.userId, role: "member", is_owner: false });
    expect((await webhook(bert)).status).to.equal(201);
    expect((await put(bert, bert, "owner")).status, "by a member").to.equal(403);

    // Another process than the one that serves requests.
    await setRole(system.worker, { orgId, userId: bert.userId, callerId: null, role: "viewer" });
    expect((await webhook(bert)).status).to.equal(403);
    expect((await bert.expect(200, "GET", "/users/me")).orgs).to.have.nested.property("[0].role", "viewer");
    expect((await put(anna, await system.user(), "member")).status, "no member").to.equal(404);
    expect((await put(await system.user(), bert, "owner")).status, "of others").to.equal(404);
  });

  it("keep an owner in each organization, whose plan it has", async () => {
    await join(bert, "member");
    const last = await put(anna, anna, "member");
    expect(last.status).to.equal(409);
    expect(last.body.detail).to.include("needs an owner");
    const leave = (api: User) => api.request("DELETE", `/orgs/${orgId}/members/${api.userId}`);
    expect((await leave(anna)).status).to.equal(409);
    expect(await roles(anna)).to.deep.equal({ [anna.userId]: "owner", [bert.userId]: "member" });

    await put(anna, bert, "owner");
    expect(await ownerId()).to.equal(anna.userId);
    expect((await put(anna, anna, "viewer")).status).to.equal(200);
    expect(await ownerId()).to.equal(bert.userId);
    expect((await leave(anna)).status).to.equal(204);
    expect((await leave(bert)).status).to.equal(409);
  });

  it("leave one of two owners who demote or remove each other at the same time", async () => {
    for (const change of ["demote", "remove"]) {
      for (let n = 0; n < 5; n += 1) {
        await join(bert, "owner");
        await setRole(system.worker, { orgId, userId: bert.userId, callerId: null, role: "owner" });
        const against = (api: User, other: User) =>
          change === "demote"
            ? put(api, other, "viewer")
            : api.request("DELETE", `/orgs/${orgId}/members/${other.userId}`);
        const statuses = await Promise.all([against(anna, bert), against(bert, anna)]);
        const won = statuses.findIndex(({ status }) => status < 300);
        expect(
          statuses.filter(({ status }) => status < 300),
          change,
        ).to.have.length(1);
        // The loser is not an owner by then, or not a member.
        expect([403, 404]).to.include(statuses[1 - won]?.status);
        const [winner, loser] = won === 0 ? [anna, bert] : [bert, anna];
        expect((await roles(winner))[winner.userId]).to.equal("owner");
        expect(await ownerId()).to.equal(winner.userId);
        await addMember(system.worker, orgId, loser.userId);
        await setRole(system.worker, { orgId, userId: loser.userId, callerId: null, role: "owner" });
      }
    }
  });

  it("of a release before them are those that people had, and stay so until somebody changes them", async () => {
    await join(bert, "member");
    const carla = await system.user();
    await join(carla, "viewer");
    const rows = Memberships(system.worker.mongo);
    await rows.updateMany({ org_id: orgId, role: { $ne: "viewer" } }, { $unset: { role: 1 } });
    await system.worker.routing.invalidate([anna.userId, bert.userId]);
    expect(await roles(anna)).to.deep.equal({
      [anna.userId]: "owner",
      [bert.userId]: "member",
      [carla.userId]: "viewer",
    });
    const url = "http://127.0.0.1:1/";
    await bert.expect(201, "POST", "/webhooks", { query: { url, ...inOrg } });
    expect((await put(bert, carla, "member")).status).to.equal(403);
    expect((await put(anna, anna, "viewer")).status, "the last owner").to.equal(409);
    expect((await put(anna, bert, "owner")).status).to.equal(200);
    expect((await put(anna, anna, "viewer")).status).to.equal(200);
    expect(await roles(bert)).to.include({ [anna.userId]: "viewer", [bert.userId]: "owner" });
  });

  it("let a viewer read, and change, run and publish nothing", async () => {
    await join(bert, "viewer");
    const { id: webhook } = await anna.createWebhook("http://127.0.0.1:1/", inOrg);
    const { id: workflow } = await anna.expect(201, "POST", "/workflows", {
      body: { name: "Flow" },
      query: inOrg,
    });
    expect(await bert.expect(200, "GET", `/webhooks/${webhook}`)).to.include({ id: webhook });
    expect(await bert.expect(200, "GET", `/orgs/${orgId}/webhooks`)).to.have.length(1);
    const code = `export default { name: "Try", version: "0.0.1", run() {} };`;
    const rejected: [string, string, object?, object?][] = [
      ["PUT", `/webhooks/${webhook}`, { active: false }],
      ["DELETE", `/webhooks/${webhook}`],
      ["POST", `/webhooks/${webhook}/rotate_signing_key`, {}],
      ["POST", `/webhooks/${webhook}/test`, {}],
      ["POST", `/workflows/${workflow}/events`, { event: 1 }],
      ["POST", "/replays", { since: 1 }, inOrg],
      ["POST", "/components/try", { component_code: code }, inOrg],
      ["POST", "/connections", { app: "weather", fields: { api_key: "…" } }, inOrg],
      ["PUT", `/orgs/${orgId}`, { name: "Mine" }],
      ["POST", `/orgs/${orgId}/invitations`, { email: "x@example.test" }],
    ];
    for (const [method, path, body, query] of rejected) {
      const options = { ...(body && { body }), ...(query && { query }) } as Parameters<Api["request"]>[2];
      const { status, body: problem } = await bert.request(method, path, options);
      expect(status, `${method} ${path}`).to.equal(403);
      expect(problem.detail, path).to.match(/role (member|owner) in the organization/);
    }
    // An organization's emitter is nothing that a viewer can have sent elsewhere, either.
    const own = await bert.createWebhook("http://127.0.0.1:1/own");
    const query = { emitter_id: workflow, listener_id: own.id };
    expect((await bert.request("POST", "/subscriptions", { query })).status).to.equal(404);
    await bert.expect(204, "DELETE", `/orgs/${orgId}/members/${bert.userId}`);
  });

  it("decide what a subscription of a member's own may still use", async () => {
    await join(bert, "member");
    const connected = { subscriber: bert.userId, emitter: orgId, listener: orgId };
    const access = () => subscriberAccessNow(system.worker, connected);
    expect(await access()).to.deep.equal({ canReadEmitter: true, canUseListener: true });
    await put(anna, bert, "viewer");
    expect(await access()).to.deep.equal({ canReadEmitter: true, canUseListener: false });
    await anna.expect(204, "DELETE", `/orgs/${orgId}/members/${bert.userId}`);
    expect(await access()).to.deep.equal({ canReadEmitter: false, canUseListener: false });
  });

  it("end with a rule that no longer holds, an owner's too, after whom another owner's plan counts", async () => {
    await join(bert, "owner");
    const rowOf = (user: User) => ({ _id: `${orgId}-${user.userId}`, org_id: orgId });
    await endByRule(system.worker, rowOf(anna));
    expect(await ownerId()).to.equal(bert.userId);
    await endByRule(system.worker, rowOf(bert));
    expect(await Memberships(system.worker.mongo).countDocuments({ org_id: orgId })).to.equal(0);
    // The operator repairs what rules have left without an owner.
    const carla = await system.user();
    await addMember(system.worker, orgId, carla.userId);
    await setRole(system.worker, { orgId, userId: carla.userId, callerId: null, role: "owner" });
    expect(await ownerId()).to.equal(carla.userId);
    expect(await roles(carla)).to.deep.equal({ [carla.userId]: "owner" });
  });

  it("are named by invitations, which those of a release before did not", async () => {
    const { email } = await bert.expect(200, "GET", "/users/me");
    const invite = (role?: Role) =>
      anna.expect(201, "POST", `/orgs/${orgId}/invitations`, { body: { email, ...(role && { role }) } });
    expect(await invite()).to.include({ role: "member" });
    const { id } = await invite("viewer");
    expect((await bert.expect(200, "GET", "/users/me")).invitations).to.equal(1);
    const [mine] = await bert.expect(200, "GET", "/users/me/invitations");
    expect(mine).to.include({ id, role: "viewer", org_name: "Org" });
    const joined = await bert.expect(200, "POST", `/users/me/invitations/${id}/accept`);
    expect(joined).to.deep.equal({ id: orgId, name: "Org", role: "viewer" });
    expect(await roles(bert)).to.include({ [bert.userId]: "viewer" });
    expect((await bert.expect(200, "GET", "/users/me")).invitations).to.equal(0);
  });
});
