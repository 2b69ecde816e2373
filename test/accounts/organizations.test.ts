import { expect } from "chai";
import { canAccess } from "../../src/accounts/access.ts";
import { addMember, createOrganization } from "../../src/accounts/organizations.ts";
import { createUser } from "../../src/accounts/users.ts";
import { isId, newId } from "../../src/lib/ids.ts";
import { Memberships, Organizations } from "../../src/models/organization.ts";
import { rejection } from "../components/rejection.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";

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
    for (const one of added) expect(one).to.deep.equal({ id, user_id: other });
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
