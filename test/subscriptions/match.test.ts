import { expect } from "chai";
import { newId } from "../../src/lib/ids.ts";
import { jsonTextOf } from "../../src/lib/json-text.ts";
import { Memberships } from "../../src/models/organization.ts";
import { type Subscription, Subscriptions } from "../../src/models/subscription.ts";
import { findSubscriptions, globOf, selectMatching } from "../../src/subscriptions/match.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";

describe("the subscriptions that match an event", () => {
  let platform: TestPlatform;
  before(async () => {
    platform = await openTestPlatform();
  });
  after(() => platform.destroy());

  const addMember = async (org: string, user: string) => {
    const membership = { _id: `${org}-${user}`, org_id: org, user_id: user, created_at: 0 };
    await Memberships(platform.mongo).insertOne(membership);
    await platform.routing.invalidate([org]);
  };

  async function subscribe(
    owner: string,
    emitter: string,
    more: Partial<Subscription> = {},
  ): Promise<string> {
    const _id = newId("sub");
    await Subscriptions(platform.mongo).insertOne({
      _id,
      owner_id: owner,
      user_id: owner,
      emitter_id: emitter,
      listener_id: newId("wh"),
      event_name: "",
      filter: null,
      created_at: 0,
      ...more,
    });
    return _id;
  }

  async function matched(id: string, owner: string, channel = "", event: unknown = {}) {
    await platform.routing.refresh();
    const found = await findSubscriptions(platform, { id, owner_id: owner }, channel);
    const { matched: selected, filtered } = await selectMatching(found, jsonTextOf(event));
    return { ids: selected.map(({ _id }) => _id), filtered: filtered.length };
  }

  it("are those to its emitter and to the glob of its kind, and no others", async () => {
    const owner = newId("u");
    const [source, flow, other] = [newId("dc"), newId("p"), newId("dc")];
    const bySource = await subscribe(owner, source);
    const byFlow = await subscribe(owner, flow);
    const allSources = await subscribe(owner, "dc_*");
    const allFlows = await subscribe(owner, "p_*");
    await subscribe(owner, other);
    expect((await matched(source, owner)).ids).to.have.members([bySource, allSources]);
    expect((await matched(flow, owner)).ids).to.have.members([byFlow, allFlows]);
    expect([globOf(source), globOf(flow)]).to.deep.equal(["dc_*", "p_*"]);
  });

  it("are those to exactly its channel", async () => {
    const owner = newId("u");
    const source = newId("dc");
    const named: Record<string, string> = {};
    for (const name of ["", "news", "$errors", "$logs", "News", "news "]) {
      named[name] = await subscribe(owner, source, { event_name: name });
    }
    for (const [name, id] of Object.entries(named)) {
      expect((await matched(source, owner, name)).ids, JSON.stringify(name)).to.deep.equal([id]);
    }
    expect((await matched(source, owner, ".*")).ids).to.deep.equal([]);
  });

  it("do not include those of another account, by id, by glob or by organization", async () => {
    const [owner, stranger, org] = [newId("u"), newId("u"), newId("o")];
    const source = newId("dc");
    for (const emitter of [source, "dc_*", owner, org]) await subscribe(stranger, emitter);
    expect((await matched(source, owner)).ids).to.deep.equal([]);
    expect((await matched(source, org)).ids).to.deep.equal([]);
  });

  it("include those of the emitter's organization, and of a user as long as it is a member", async () => {
    const [org, member] = [newId("o"), newId("u")];
    const source = newId("dc");
    const ours = await subscribe(org, "dc_*");
    const byId = await subscribe(member, source);
    const byOrg = await subscribe(member, org);
    await subscribe(member, "dc_*");
    expect((await matched(source, org)).ids).to.have.members([ours]);
    await addMember(org, member);
    expect((await matched(source, org)).ids).to.have.members([ours, byId, byOrg]);
    await Memberships(platform.mongo).deleteOne({ _id: `${org}-${member}` });
    await platform.routing.invalidate([org]);
    expect((await matched(source, org)).ids).to.have.members([ours]);
  });

  it("are those with a filter that the event matches; the others are counted", async () => {
    const owner = newId("u");
    const source = newId("dc");
    const open = await subscribe(owner, source, { filter: '{"state":"open"}' });
    await subscribe(owner, source, { filter: '{"state":"closed"}' });
    const all = await subscribe(owner, source);
    const { ids, filtered } = await matched(source, owner, "", { state: "open" });
    expect(ids).to.have.members([open, all]);
    expect(filtered).to.equal(1);
    expect(await matched(source, owner, "", null)).to.deep.equal({ ids: [all], filtered: 2 });
  });

  it("are at most one per listener: the narrowest that matches", async () => {
    const [org, listener_id] = [newId("o"), newId("wh")];
    const source = newId("dc");
    const wide = await subscribe(org, "dc_*", { listener_id });
    await subscribe(org, org, { listener_id });
    const narrow = await subscribe(org, source, { listener_id, filter: '{"n":1}' });
    expect((await matched(source, org, "", { n: 1 })).ids).to.deep.equal([narrow]);
    const without = await matched(source, org, "", { n: 2 });
    expect(without.ids).to.have.length(1).and.not.include(narrow);
    expect(without.filtered).to.equal(1);
    await subscribe(org, "dc_*");
    expect((await matched(source, org, "", { n: 2 })).ids).to.have.length(2);
    expect(wide).to.be.a("string");
  });
});
