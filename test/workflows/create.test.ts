import { expect } from "chai";
import { createOrganization } from "../../src/accounts/organizations.ts";
import { createUser } from "../../src/accounts/users.ts";
import { isId, newId } from "../../src/lib/ids.ts";
import { AutoSubscriptions, Subscriptions } from "../../src/models/subscription.ts";
import { Workflows } from "../../src/models/workflow.ts";
import { createWorkflow, findWorkflow } from "../../src/workflows/workflows.ts";
import { rejection } from "../components/rejection.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";

describe("workflows", () => {
  let platform: TestPlatform;
  let owner: string;
  let org: string;
  before(async () => {
    platform = await openTestPlatform();
    owner = (await createUser(platform, { email: "owner@example.test" })).id;
    org = (await createOrganization(platform, { name: "Org", ownerId: owner })).id;
  });
  after(() => platform.destroy());

  it("are created for a user or an organization, and found for their owner only", async () => {
    const mine = await createWorkflow(platform, { ownerId: owner, name: "Mine" });
    const ours = await createWorkflow(platform, { ownerId: org, name: "Ours" });
    expect(isId("p", mine.id) && isId("p", ours.id)).to.equal(true);
    expect(await findWorkflow(platform, mine.id, [owner])).to.include({ name: "Mine", owner_id: owner });
    expect(await findWorkflow(platform, ours.id, [owner, org])).to.include({ name: "Ours" });
    expect(await findWorkflow(platform, mine.id, [org])).to.equal(null);
    expect(await findWorkflow(platform, mine.id, [])).to.equal(null);
  });

  it("are not created for an unknown owner or with an invalid name", async () => {
    for (const ownerId of [newId("u"), newId("o"), "", "p_x"]) {
      expect((await rejection(createWorkflow(platform, { ownerId, name: "X" }))).code).to.equal("not-found");
    }
    for (const name of ["", "   ", "x".repeat(200)]) {
      const error = await rejection(createWorkflow(platform, { ownerId: owner, name }));
      expect(error.fields.map(({ path }) => path)).to.deep.equal(["name"]);
    }
    expect(await Workflows(platform.mongo).countDocuments({ name: { $nin: ["Mine", "Ours"] } })).to.equal(0);
  });

  it("are created with subscriptions from the auto subscriptions of their account only", async () => {
    const autos = [owner, org].map((owner_id, index) => ({
      _id: newId("asub"),
      owner_id,
      user_id: owner,
      listener_id: `wh_${String(index).padStart(16, "0")}`,
      event_name: "$errors",
      created_at: 0,
    }));
    await AutoSubscriptions(platform.mongo).insertMany(autos);
    const { id } = await createWorkflow(platform, { ownerId: org, name: "Ours" });
    const found = await Subscriptions(platform.mongo).find({ emitter_id: id }).lean();
    expect(found).to.have.length(1);
    expect(found[0]).to.include({ owner_id: org, listener_id: autos[1]?.listener_id, event_name: "$errors" });
  });
});
