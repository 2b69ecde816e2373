import { expect } from "chai";
import { canAccess } from "../../src/accounts/access.ts";
import { addMember, createOrganization } from "../../src/accounts/organizations.ts";
import { createUser } from "../../src/accounts/users.ts";
import { isId, newId } from "../../src/lib/ids.ts";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { Invitations, Memberships, Organizations } from "../../src/models/organization.ts";
import { rejection } from "../components/rejection.ts";
import type { Api } from "../support/api.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { type System, startSystem } from "../support/system.ts";

describe("organizations", () => {
  let platform: TestPlatform;
  let owner: string;
  let other: string;
  before(async () => {
    platform = await openTestPlatform();
    owner = (await createUser(platform, { email: "owner@example.test" })).id;
    other = (await createUser(platform, { email: "other@example.test" })).id;
  });
  after(() => platform.destroy());

  it("are created with their owner as a member, and with a unique orgname derived from their name", async () => {
    const created = await Promise.all(
      ["Acme & Søns!", "Acme & Søns!", "東京"].map(name =>
        createOrganization(platform, { name, ownerId: owner }),
      ),
    );
    const found = await Organizations(platform.mongo)
      .find({ _id: { $in: created.map(({ id }) => id) } })
      .lean();
    expect(found.every(({ _id }) => isId("o", _id))).to.equal(true);
    expect(new Set(found.map(({ orgname }) => orgname)).size).to.equal(3);
    for (const { name, orgname, email } of found) {
      expect(orgname).to.match(name === "東京" ? /^org-[a-z0-9]{6}$/ : /^acme-s-ns-[a-z0-9]{6}$/);
      expect(email).to.equal("owner@example.test");
    }
    for (const { id } of created) expect(await canAccess(platform, owner, id)).to.equal(true);
  });

  it("are not created for an unknown owner or with an invalid name", async () => {
    const before = await Organizations(platform.mongo).countDocuments();
    expect((await rejection(createOrganization(platform, { name: "X", ownerId: newId("u") }))).code).to.equal(
      "not-found",
    );
    for (const name of ["", "  ", "x".repeat(200)]) {
      const error = await rejection(createOrganization(platform, { name, ownerId: owner }));
      expect(error.fields.map(({ path }) => path)).to.deep.equal(["name"]);
    }
    expect(await Organizations(platform.mongo).countDocuments()).to.equal(before);
  });

  it("have a member only once, however often and concurrently it is added", async () => {
    const { id } = await createOrganization(platform, { name: "Acme", ownerId: owner });
    const added = await Promise.all(Array.from({ length: 5 }, () => addMember(platform, id, other)));
    for (const { isNew: _, ...one } of added) expect(one).to.deep.equal({ id, user_id: other });
    expect(added.filter(({ isNew }) => isNew)).to.have.length(1);
    await addMember(platform, id, owner);
    expect(await Memberships(platform.mongo).countDocuments({ org_id: id })).to.equal(2);
  });

  it("are not joined by an unknown user, nor can a user join an unknown organization", async () => {
    const { id } = await createOrganization(platform, { name: "Acme", ownerId: owner });
    expect((await rejection(addMember(platform, newId("o"), other))).message).to.include("organization");
    expect((await rejection(addMember(platform, id, newId("u")))).message).to.include("user");
    expect((await rejection(addMember(platform, other, id))).code).to.equal("not-found");
  });

  it("can be accessed by their members only, and a user by itself only", async () => {
    const { id } = await createOrganization(platform, { name: "Acme", ownerId: owner });
    expect(await canAccess(platform, other, id)).to.equal(false);
    await addMember(platform, id, other);
    expect(await canAccess(platform, other, id)).to.equal(true);
    expect(await canAccess(platform, other, other)).to.equal(true);
    expect(await canAccess(platform, other, owner), "members of one organization").to.equal(false);
    expect(await canAccess(platform, id, owner), "an organization and its owner").to.equal(false);
  });
});

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
    expect(joined).to.deep.equal({ id: orgId, name: "Org", role: "member" });
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
