import { expect } from "chai";
import { emitAll } from "../../src/events/emit.ts";
import { newId } from "../../src/lib/ids.ts";
import { StoredEvents } from "../../src/models/event.ts";
import { Memberships } from "../../src/models/organization.ts";
import { Workflows } from "../../src/models/workflow.ts";
import { recordRuns } from "../../src/runs/record.ts";
import { firstOnItsWay } from "../../src/store/events/on-their-way.ts";
import { holdForEmissions } from "../../src/webhooks/hold-for-emissions.ts";
import { createWebhook } from "../../src/webhooks/webhooks.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { until } from "../support/until.ts";

describe("emissions that ordered webhooks wait for", () => {
  let platform: TestPlatform;
  before(async () => {
    platform = await openTestPlatform();
  });
  after(() => platform.destroy());

  const addWebhook = (ownerId: string, ordered: boolean) =>
    createWebhook(platform, { ownerId, userId: ownerId, url: "http://127.0.0.1:9/", ordered });
  const emission = (ownerId: string) => ({ emitter_id: newId("p"), emit_id: newId("emit"), ownerId });
  const isHeld = async (accountId: string) =>
    (await firstOnItsWay(platform, [accountId], platform.clock())) < Number.POSITIVE_INFINITY;
  const emitterOf = async (ownerId: string) => {
    const id = newId("p");
    await Workflows(platform.mongo).insertOne({ _id: id, owner_id: ownerId, name: "flow", created_at: 0 });
    return id;
  };

  it("are those of accounts with an ordered webhook, their own or a member's", async () => {
    const [owner, plain, organization] = [newId("u"), newId("u"), newId("o")];
    await addWebhook(owner, true);
    await addWebhook(plain, false);
    await Memberships(platform.mongo).insertOne({
      _id: `${organization}-${owner}`,
      org_id: organization,
      user_id: owner,
      created_at: 0,
    });
    const release = await holdForEmissions(platform, [owner, plain, organization].map(emission));
    expect(await Promise.all([owner, plain, organization].map(isHeld))).to.deep.equal([true, false, true]);
    release();
    await until(async () => !(await isHeld(owner)) && !(await isHeld(organization)));
  });

  it("are held from before a run's record until they are stored", async () => {
    const owner = newId("u");
    await addWebhook(owner, true);
    const emitter_id = await emitterOf(owner);
    const emitted = { emitter_id, emit_id: newId("emit"), event: 1 };
    await recordRuns(platform, [
      {
        _id: newId("run"),
        source_id: emitter_id,
        owner_id: owner,
        kind: "http",
        emitted: 1,
        dropped: {},
        outcome: "ok",
        duration_ms: 1,
        emissions: [emitted],
      },
    ]);
    expect(await isHeld(owner)).to.equal(true);
    await emitAll(platform, [emitted]);
    await until(async () => !(await isHeld(owner)));
  });

  it("are held while they can't be stored", async () => {
    const owner = newId("u");
    await addWebhook(owner, true);
    const emitter_id = await emitterOf(owner);
    const emissions = [{ emitter_id, emit_id: newId("emit"), event: "x".repeat(100_000) }];
    const { collectionName } = StoredEvents(platform.mongo).collection;
    const validator = { _id: { $exists: false } };
    const reject = (validationLevel: "strict" | "off") =>
      platform.mongo.db?.command({ collMod: collectionName, validator, validationLevel });
    await reject("strict");
    try {
      const failure = await emitAll(platform, emissions).catch(String);
      expect(failure).to.include("Document failed validation");
      expect(await isHeld(owner)).to.equal(true);
    } finally {
      await reject("off");
    }
    await emitAll(platform, emissions);
    await until(async () => !(await isHeld(owner)));
  });
});
