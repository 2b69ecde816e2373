import { expect } from "chai";
import { newId } from "../../src/lib/ids.ts";
import { AutoSubscriptions, Subscriptions } from "../../src/models/subscription.ts";
import { transaction } from "../../src/store/connections/mongo.ts";
import { subscribeNewEmitter } from "../../src/subscriptions/auto.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";

describe("the subscriptions of a new emitter", () => {
  let platform: TestPlatform;
  before(async () => {
    platform = await openTestPlatform();
  });
  after(() => platform.destroy());

  const autoSubscribe = async (owner_id: string, event_name: string) => {
    const listener_id = newId("wh");
    await AutoSubscriptions(platform.mongo).insertOne({
      _id: newId("asub"),
      owner_id,
      user_id: "u_member",
      listener_id,
      event_name,
      created_at: 0,
    });
    return listener_id;
  };
  const found = (emitter_id: string) => Subscriptions(platform.mongo).find({ emitter_id }).lean();

  it("are created from all auto subscriptions of its account, and of no other", async () => {
    const [owner, stranger] = [newId("u"), newId("u")];
    const errors = await autoSubscribe(owner, "$errors");
    const logs = await autoSubscribe(owner, "$logs");
    await autoSubscribe(stranger, "$errors");
    const emitter = { id: newId("dc"), owner_id: owner };
    await transaction(platform.mongo, session => subscribeNewEmitter(platform, emitter, session));
    const rows = await found(emitter.id);
    expect(rows.map(({ listener_id, event_name }) => [listener_id, event_name])).to.have.deep.members([
      [errors, "$errors"],
      [logs, "$logs"],
    ]);
    for (const row of rows) expect(row).to.include({ owner_id: owner, user_id: "u_member", filter: null });
  });

  it("are none without auto subscriptions", async () => {
    const emitter = { id: newId("p"), owner_id: newId("u") };
    await transaction(platform.mongo, session => subscribeNewEmitter(platform, emitter, session));
    expect(await found(emitter.id)).to.deep.equal([]);
  });

  it("are not stored if the creation of the emitter fails", async () => {
    const owner = newId("u");
    await autoSubscribe(owner, "$errors");
    const emitter = { id: newId("dc"), owner_id: owner };
    const failing = transaction(platform.mongo, async session => {
      await subscribeNewEmitter(platform, emitter, session);
      throw new Error("no source after all");
    });
    expect(await failing.catch((error: Error) => error.message)).to.equal("no source after all");
    expect(await found(emitter.id)).to.deep.equal([]);
  });
});
