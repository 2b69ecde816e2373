import { expect } from "chai";
import { newId } from "../../src/lib/ids.ts";
import { AutoSubscriptions, Subscriptions } from "../../src/models/subscription.ts";
import { transaction } from "../../src/store/mongo.ts";
import { subscribeNewEmitter } from "../../src/subscriptions/auto.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";

describe("the subscriptions of a new emitter", () => {
  let platform: TestPlatform;
  before(async () => {
    platform = await openTestPlatform();
  });
  after(() => platform.destroy());

  const wish = async (owner_id: string, event_name: string) => {
    const listener_id = newId("wh");
    await AutoSubscriptions(platform.mongo).insertOne({
      _id: newId("asub"),
      owner_id,
      user_id: "u_asked",
      listener_id,
      event_name,
      created_at: 0,
    });
    return listener_id;
  };
  const found = (emitter_id: string) => Subscriptions(platform.mongo).find({ emitter_id }).lean();

  it("are all that its account asked for, and nobody else's", async () => {
    const [owner, stranger] = [newId("u"), newId("u")];
    const errors = await wish(owner, "$errors");
    const logs = await wish(owner, "$logs");
    await wish(stranger, "$errors");
    const emitter = { id: newId("dc"), owner_id: owner };
    await transaction(platform.mongo, session => subscribeNewEmitter(platform, emitter, session));
    const rows = await found(emitter.id);
    expect(rows.map(({ listener_id, event_name }) => [listener_id, event_name])).to.have.deep.members([
      [errors, "$errors"],
      [logs, "$logs"],
    ]);
    for (const row of rows) expect(row).to.include({ owner_id: owner, user_id: "u_asked", filter: null });
  });

  it("are none where nobody asked", async () => {
    const emitter = { id: newId("p"), owner_id: newId("u") };
    await transaction(platform.mongo, session => subscribeNewEmitter(platform, emitter, session));
    expect(await found(emitter.id)).to.deep.equal([]);
  });

  it("do not outlive a creation that fails", async () => {
    const owner = newId("u");
    await wish(owner, "$errors");
    const emitter = { id: newId("dc"), owner_id: owner };
    const failing = transaction(platform.mongo, async session => {
      await subscribeNewEmitter(platform, emitter, session);
      throw new Error("no source after all");
    });
    expect(await failing.catch((error: Error) => error.message)).to.equal("no source after all");
    expect(await found(emitter.id)).to.deep.equal([]);
  });
});
