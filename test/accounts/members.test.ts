import { expect } from "chai";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { Invitations } from "../../src/models/invitation.ts";
import type { Api } from "../support/api.ts";
import { type System, startSystem } from "../support/system.ts";

describe("the members of an organization", () => {
  let system: System;
  let anna: Api & { userId: string };
  let bert: Api & { userId: string };
  let orgId: string;
  before(async () => {
    system = await startSystem({}, { workers: false });
  });
  after(() => system.stop());
  beforeEach(async () => {
    [anna, bert] = [await system.user(), await system.user()];
    orgId = await system.organization(anna.userId);
  });

  const emailOf = async (api: Api) => (await api.expect(200, "GET", "/users/me")).email as string;
  const invite = (api: Api, email: string) =>
    api.request("POST", `/orgs/${orgId}/invitations`, { body: { email } });
  const mine = (api: Api) => api.expect(200, "GET", "/users/me/invitations");
  const members = async (api: Api) =>
    (await api.expect(200, "GET", `/orgs/${orgId}/members`)).members.map(({ id }: { id: string }) => id);

  it("are invited by its owner, accept, and can use it from their next request on", async () => {
    const invited = await invite(anna, (await emailOf(bert)).toUpperCase());
    expect(invited.status).to.equal(201);
    expect((await bert.request("GET", `/orgs/${orgId}/members`)).status).to.equal(404);
    const [invitation] = await mine(bert);
    expect(invitation).to.deep.equal({ ...invited.body.data });
    const renewed = await invite(anna, await emailOf(bert));
    expect(renewed.body.data.id).to.equal(invitation.id);
    const joined = await bert.expect(200, "POST", `/users/me/invitations/${invitation.id}/accept`);
    expect(joined).to.deep.equal({ id: orgId, name: "Org" });
    expect(await members(bert)).to.have.members([anna.userId, bert.userId]);
    expect(await mine(bert)).to.deep.equal([]);
    expect((await invite(anna, await emailOf(bert))).status, "a member").to.equal(409);
    expect((await invite(bert, "new@example.test")).status, "by a member").to.equal(403);
    expect((await bert.request("DELETE", `/orgs/${orgId}/members/${anna.userId}`)).status).to.equal(403);
    await bert.expect(204, "DELETE", `/orgs/${orgId}/members/${bert.userId}`);
    expect((await bert.request("GET", `/orgs/${orgId}/members`)).status).to.equal(404);
    expect((await anna.request("DELETE", `/orgs/${orgId}/members/${anna.userId}`)).status).to.equal(409);
    expect((await anna.request("DELETE", `/orgs/${orgId}/members/${bert.userId}`)).status).to.equal(404);
  });

  it("do not come from invitations of others, withdrawn, declined or expired ones", async () => {
    const carla = await system.user();
    const { id } = (await invite(anna, await emailOf(bert))).body.data;
    const accept = async (api: Api) =>
      (await api.request("POST", `/users/me/invitations/${id}/accept`)).status;
    expect(await accept(carla)).to.equal(404);
    const invitation = await Invitations(system.worker.mongo).findById(id).lean();
    const lifeMs = (invitation?.expires_at.getTime() ?? 0) - (invitation?.created_at ?? 0) * 1000;
    expect(
      lifeMs - LIMITS.invitationMs.value,
      "less than the second to which the start is rounded",
    ).to.be.within(0, 999);
    await Invitations(system.worker.mongo).updateOne({ _id: id }, { $set: { expires_at: new Date(0) } });
    expect([await accept(bert), await mine(bert)]).to.deep.equal([404, []]);
    await invite(anna, await emailOf(bert));
    await bert.expect(204, "DELETE", `/users/me/invitations/${id}`);
    expect(await accept(bert)).to.equal(404);
    const again = (await invite(anna, await emailOf(bert))).body.data;
    await anna.expect(204, "DELETE", `/orgs/${orgId}/invitations/${again.id}`);
    expect(await mine(bert)).to.deep.equal([]);
    for (const email of ["x", "a b@c", ""]) expect((await invite(anna, email)).status, email).to.equal(400);
  });
});
