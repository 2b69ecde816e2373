import { expect } from "chai";
import { emit } from "../../src/events/emit.ts";
import { newId } from "../../src/lib/ids.ts";
import { Subscriptions } from "../../src/models/subscription.ts";
import { Workflows } from "../../src/models/workflow.ts";
import { openedQueue } from "../../src/queues/define-queue.ts";
import { workflowEvents } from "../../src/queues/workflow-events.ts";
import { readDrops } from "../../src/store/events/drops.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";

describe("a workflow whose engine does not run", () => {
  let platform: TestPlatform;
  before(async () => {
    // The accounts of this test are not stored, so they are bounded as paid ones.
    platform = await openTestPlatform({ PAID_LIMITS: "workflow_events=5,workflow_event_bytes=100000" });
  });
  after(() => platform.destroy());

  async function pair() {
    const owner = newId("u");
    const [emitter, listener] = [newId("p"), newId("p")];
    for (const _id of [emitter, listener]) {
      await Workflows(platform.mongo).insertOne({ _id, owner_id: owner, name: "flow", created_at: 0 });
    }
    await Subscriptions(platform.mongo).insertOne({
      ...{ _id: newId("sub"), owner_id: owner, user_id: owner, filter: null, created_at: 0 },
      ...{ emitter_id: emitter, listener_id: listener, event_name: "" },
    });
    return emitter;
  }
  const emitTimes = async (emitterId: string, times: number, event: unknown = {}) => {
    let listeners = 0;
    for (let i = 0; i < times; i++) {
      const emission = { emitter_id: emitterId, emit_id: newId("emit"), event };
      listeners += (await emit(platform, emission)).listeners;
    }
    return listeners;
  };

  it("piles up a bounded number of events; others are dropped and counted, until an engine consumes", async () => {
    const emitter = await pair();
    expect(await emitTimes(emitter, 8)).to.equal(5);
    expect(await readDrops(platform, emitter)).to.include({ saturated: 3 });
    expect(await emitTimes(await pair(), 1), "another account").to.equal(1);
    await openedQueue(platform.queues, workflowEvents).obliterate({ force: true });
    let received = 0;
    while (received === 0) received = await emitTimes(emitter, 1);
    expect(await emitTimes(emitter, 2)).to.equal(2);
  });

  it("piles up a bounded number of bytes", async () => {
    const emitter = await pair();
    expect(await emitTimes(emitter, 4, "x".repeat(60_000))).to.equal(2);
  });
});
