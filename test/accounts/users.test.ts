import { expect } from "chai";
import { createApiKey, findCaller, listApiKeys, revokeApiKey } from "../../src/accounts/api-keys.ts";
import { addMember, createOrganization } from "../../src/accounts/organizations.ts";
import { createUser, planOf, readUser } from "../../src/accounts/users.ts";
import { isId, newId } from "../../src/lib/ids.ts";
import { ApiKeys, Users } from "../../src/models/user.ts";
import { rejection } from "../components/rejection.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";

describe("users and their API keys", () => {
  let platform: TestPlatform;
  let now = Date.UTC(2026, 0, 31, 23, 59, 59, 999);
  let count = 0;
  before(async () => {
    platform = await openTestPlatform({}, { clock: () => now });
  });
  after(() => platform.destroy());

  const newEmail = () => `someone${++count}@example.test`;

  it("creates a user with a key that is not stored", async () => {
    const { id, api_key } = await createUser(platform, { email: "anna.b@example.test" });
    expect(isId("u", id)).to.equal(true);
    expect(api_key).to.match(/^hw_[A-Za-z0-9]{32}$/);
    expect(await findCaller(platform, api_key))
      .to.include({ userId: id })
      .and.to.deep.include({ orgIds: [], roles: {} });
    const stored = await Promise.all([
      Users(platform.mongo).find().lean(),
      ApiKeys(platform.mongo).find().lean(),
    ]);
    expect(JSON.stringify(stored)).not.to.include(api_key.slice(3));
    const { user } = await readUser(platform, id);
    expect(user).to.include({ email: "anna.b@example.test", plan: "free", created_at: 1_769_903_999 });
    expect(user.username).to.match(/^anna\.b-[a-z0-9]{4}$/);
  });

  for (const email of [
    "",
    "anna",
    "@example.test",
    "anna@",
    "a b@example.test",
    "anna@b\n",
    `${"x".repeat(400)}@b`,
  ]) {
    it(`rejects ${JSON.stringify(email.slice(0, 20))} as an email address and stores nothing`, async () => {
      const before = await Users(platform.mongo).countDocuments();
      const error = await rejection(createUser(platform, { email }));
      expect(error.code).to.equal("invalid");
      expect(error.fields.map(({ path }) => path)).to.deep.equal(["email"]);
      expect(await Users(platform.mongo).countDocuments()).to.equal(before);
    });
  }

  for (const username of ["", " ", "two words", "x".repeat(101), "line\nend"]) {
    it(`rejects ${JSON.stringify(username.slice(0, 20))} as a username`, async () => {
      const error = await rejection(createUser(platform, { email: newEmail(), username }));
      expect(error.code).to.equal("invalid");
      expect(error.fields.map(({ path }) => path)).to.deep.equal(["username"]);
    });
  }

  it("creates one user per email address and username, even concurrently, and no key for a rejected user", async () => {
    const address = newEmail();
    const results = await Promise.allSettled(
      Array.from({ length: 6 }, () => createUser(platform, { email: address })),
    );
    const created = results.filter(result => result.status === "fulfilled");
    expect(created).to.have.length(1);
    for (const result of results) {
      if (result.status === "rejected") expect(result.reason).to.include({ code: "conflict" });
    }
    await createUser(platform, { email: newEmail(), username: "anna" });
    expect((await rejection(createUser(platform, { email: newEmail(), username: "anna" }))).code).to.equal(
      "conflict",
    );
    expect(await ApiKeys(platform.mongo).countDocuments()).to.equal(
      await Users(platform.mongo).countDocuments(),
    );
  });

  it("treats email addresses that differ in case as the same", async () => {
    await createUser(platform, { email: "Case@Example.Test" });
    expect((await rejection(createUser(platform, { email: "case@example.test" }))).code).to.equal("conflict");
  });

  it("rejects a revoked key from then on, but not the user's other keys", async () => {
    const { id, api_key } = await createUser(platform, { email: newEmail() });
    const second = await createApiKey(platform, id);
    const caller = await findCaller(platform, second.api_key);
    expect(caller).to.include({ userId: id, keyId: second.id });
    now += 5000;
    const revoked = await revokeApiKey(platform, second.id);
    expect(revoked).to.deep.equal({ id: second.id, revoked_at: Math.floor(now / 1000) });
    expect(await findCaller(platform, second.api_key)).to.equal(null);
    expect(await findCaller(platform, api_key)).to.include({ userId: id });
    now += 5000;
    expect(await revokeApiKey(platform, second.id), "again changes nothing").to.deep.equal(revoked);
  });

  it("lists the ids and times of keys, newest first", async () => {
    const { id } = await createUser(platform, { email: newEmail() });
    now += 1000;
    const second = await createApiKey(platform, id);
    now += 1000;
    const third = await createApiKey(platform, id);
    const keys = await listApiKeys(platform, id);
    expect(keys.slice(0, 2).map(key => key.id)).to.deep.equal([third.id, second.id]);
    expect(keys).to.have.length(3);
    for (const key of keys)
      expect(Object.keys(key)).to.have.members([
        "id",
        "made_with",
        "ends_with_provider",
        "created_at",
        "revoked_at",
      ]);
  });

  for (const key of ["", "hw_", "hw_unknown", "$ne", "[object Object]", "hw_\u0000", "x".repeat(10_000)]) {
    it(`finds no user for the key ${JSON.stringify(key.slice(0, 20))}`, async () => {
      expect(await findCaller(platform, key)).to.equal(null);
    });
  }

  it("throws not-found for an unknown user, organization or key", async () => {
    for (const operation of [
      () => createApiKey(platform, newId("u")),
      () => listApiKeys(platform, newId("u")),
      () => revokeApiKey(platform, newId("key")),
      () => readUser(platform, newId("u")),
      () => planOf(platform, newId("u")),
      () => planOf(platform, newId("o")),
    ]) {
      expect((await rejection(operation())).code).to.equal("not-found");
    }
  });

  it("finds the plan of an organization's owner, and the organizations of a member", async () => {
    const owner = await createUser(platform, { email: newEmail(), plan: "paid" });
    const member = await createUser(platform, { email: newEmail() });
    const { id } = await createOrganization(platform, { name: "Acme", ownerId: owner.id });
    await addMember(platform, id, member.id);
    expect(await planOf(platform, id)).to.equal("paid");
    expect(await planOf(platform, member.id)).to.equal("free");
    expect((await findCaller(platform, member.api_key))?.orgIds).to.deep.equal([id]);
    expect((await readUser(platform, member.id)).orgs.map(org => org._id)).to.deep.equal([id]);
  });
});
