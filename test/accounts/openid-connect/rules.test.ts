import { expect } from "chai";
import { addMember } from "../../../src/accounts/organizations.ts";
import { createUser } from "../../../src/accounts/users.ts";
import { newId } from "../../../src/lib/ids.ts";
import { Memberships, Organizations } from "../../../src/models/organization.ts";
import { Identities } from "../../../src/models/user.ts";
import { startOpenIdProvider, type TestProvider } from "../../support/openid-provider.ts";
import { type System, startSystem } from "../../support/system.ts";
import { problemOf, Visitor } from "./visitor.ts";

describe("the rules of an OpenID provider", () => {
  let provider: TestProvider;
  const systems: System[] = [];
  let count = 0;
  before(async () => {
    provider = await startOpenIdProvider({ isPublic: true });
  });
  after(async () => {
    await Promise.all(systems.map(system => system.stop()));
    await provider?.stop();
  });

  /** A system with these settings, besides those of the provider; the provider sends browsers back to the newest one. */
  async function start(env: Record<string, string>): Promise<System> {
    const system = await startSystem({ ...provider.env, ...env }, { workers: false });
    systems.push(system);
    await provider.returnTo(new URL(system.baseUrl).origin);
    return system;
  }
  function person(claims: object): string {
    const name = `r${++count}`;
    provider.people.set(name, { email: `${name}@acme.test`, email_verified: true, ...claims });
    return name;
  }
  const orgsOf = async (visitor: Visitor) => ((await visitor.me())?.orgs ?? []).map(({ id }) => id).sort();

  it("make people members of organizations by domain and by claim, and take back only what they gave", async () => {
    const [all, ops, other] = [newId("o"), newId("o"), newId("o")];
    const system = await start({
      OIDC_ALLOW: `@Acme.test=${all}, groups:ops=${ops},groups:lost=${newId("o")}`,
      OIDC_SCOPES: "openid email groups",
    });
    for (const id of [all, ops, other]) await createOrganization(system, id);
    const name = person({ groups: ["ops", "lost", "dev"] });
    const anna = new Visitor(system.baseUrl);
    await anna.signIn(name);
    expect(await orgsOf(anna)).to.deep.equal([all, ops].sort());
    const { id: userId = "" } = (await anna.me()) ?? {};
    await addMember(system.worker, other, userId);

    provider.people.set(name, { ...provider.people.get(name), groups: "dev" });
    await new Visitor(system.baseUrl).signIn(name);
    expect(await orgsOf(anna), "the group is lost").to.deep.equal([all, other].sort());

    provider.people.set(name, { email: `${name}@else.test`, email_verified: true, groups: ["dev"] });
    expect(problemOf(await new Visitor(system.baseUrl).signIn(name))).to.equal("not-allowed");
    expect(await anna.me()).to.equal(null);
    const left = await Memberships(system.worker.mongo).find({ user_id: userId }).lean();
    expect(left.map(({ org_id }) => org_id)).to.deep.equal([other]);
    const eve = await new Visitor(system.baseUrl).signIn(person({ email: "b@any.test", groups: ["opsx"] }));
    expect(problemOf(eve)).to.equal("not-allowed");
  });

  it("let in single addresses, make no account if the operator says so, and link one if the operator says so", async () => {
    const system = await start({
      OIDC_ALLOW: "Bert@any.test, carla@any.test",
      OIDC_ACCOUNTS: "link",
    });
    const visitor = () => new Visitor(system.baseUrl);
    expect(problemOf(await visitor().signIn(person({ email: "dora@any.test" })))).to.equal("not-allowed");
    expect(problemOf(await visitor().signIn(person({ email: "carla@any.test" })))).to.equal("no-account");
    const { id } = await createUser(system.worker, { email: "bert@any.test" });
    const bert = visitor();
    const name = person({ email: "BERT@any.test" });
    await bert.signIn(name);
    expect((await bert.me())?.id).to.equal(id);
    const unverified = person({ email: "bert@any.test", email_verified: false });
    expect(problemOf(await visitor().signIn(unverified))).to.equal("not-verified");
    const second = person({ email: "bert@any.test" });
    expect(problemOf(await visitor().signIn(second)), "a second person").to.equal("account-exists");
    expect(await Identities(system.worker.mongo).countDocuments({ user_id: id })).to.equal(1);
  });

  it("are not needed without a provider, which then can't be signed in with", async () => {
    const system = await startSystem({}, { workers: false });
    systems.push(system);
    const options = await fetch(`${system.baseUrl}/sign_in_options`);
    expect(await options.json()).to.deep.equal({ data: { openid_connect: null } });
    expect((await new Visitor(system.baseUrl).begin()).status).to.equal(404);
  });

  it("can't be asked of a provider on a private address that the operator did not allow", async () => {
    const system = await start({ OIDC_EGRESS_ALLOW: "", EGRESS_ALLOW: "127.0.0.0/8" });
    const response = await new Visitor(system.baseUrl).begin();
    expect(response.status).to.equal(503);
    expect(await response.text()).to.include("127.0.0.1 can't be reached right now");
  });
});

/** Creates an organization whose id is known before. */
async function createOrganization({ worker }: System, id: string): Promise<void> {
  const { id: owner_id } = await createUser(worker, { email: `${id}@owner.test` });
  const named = { name: "Org", orgname: id.toLowerCase(), email: "owner@owner.test" };
  await Organizations(worker.mongo).insertOne({ _id: id, ...named, owner_id, created_at: 1 });
}
