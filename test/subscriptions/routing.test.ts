import { expect } from "chai";
import { addMember } from "../../src/accounts/organizations.ts";
import { emit } from "../../src/events/emit.ts";
import { newId } from "../../src/lib/ids.ts";
import { type System, startSystem } from "../support/system.ts";

const CODE = `export default { name: "Emits", version: "0.0.1", run() {} };`;

describe("an emitter that a worker has just used", () => {
  let system: System;
  before(async () => {
    system = await startSystem({}, { workers: false });
  });
  after(() => system.stop());

  const listeners = async (emitterId: string) => {
    const emission = { emitter_id: emitterId, emit_id: newId("run"), event: {} };
    return (await emit(system.worker, emission)).listeners;
  };

  it("reaches each listener that another account of its organization subscribes, and none that it deletes", async () => {
    const [anna, bert] = [await system.user(), await system.user()];
    const org = await system.organization(anna.userId);
    await addMember(system.worker, org, bert.userId);
    const source = await anna.createSource({ component_code: CODE }, { org_id: org });
    const [first, second] = [
      await bert.createWebhook("http://127.0.0.1:1/"),
      await bert.createWebhook("http://127.0.0.1:2/"),
    ];
    const counts = [await listeners(source.id)];
    await bert.subscribe(source.id, first.id);
    counts.push(await listeners(source.id));
    await bert.subscribe(org, second.id);
    counts.push(await listeners(source.id));
    await bert.expect(204, "DELETE", `/webhooks/${first.id}`);
    counts.push(await listeners(source.id));
    const query = { emitter_id: org, listener_id: second.id };
    await bert.expect(204, "DELETE", "/subscriptions", { query });
    counts.push(await listeners(source.id));
    expect(counts).to.deep.equal([0, 1, 2, 1, 0]);
  });
});
