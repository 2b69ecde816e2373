import { expect } from "chai";
import { emitAll } from "../../src/events/emit.ts";
import { newId } from "../../src/lib/ids.ts";
import { Sources } from "../../src/models/source.ts";
import { Subscriptions } from "../../src/models/subscription.ts";
import { enqueue, openedQueue } from "../../src/queues/define-queue.ts";
import { deliveries } from "../../src/queues/deliveries.ts";
import { emissions, emissionsIn } from "../../src/queues/emissions.ts";
import { sendOutbox } from "../../src/runs/outbox.ts";
import { recordRuns } from "../../src/runs/record.ts";
import { finishDeletion } from "../../src/sources/delete-source.ts";
import { createWebhook } from "../../src/webhooks/webhooks.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { sweep } from "../support/sweep.ts";
import { storeSource } from "./source-row.ts";

describe("the end of a deletion", () => {
  let platform: TestPlatform;
  let aheadMs: number;
  beforeEach(async () => {
    aheadMs = 0;
    platform = await openTestPlatform({}, { clock: () => Date.now() + aheadMs });
  });
  afterEach(() => platform.destroy());

  const exists = async (id: string) => (await Sources(platform.mongo).countDocuments({ _id: id })) > 0;

  /** A source in the state `deleting` whose webhook still has to receive so many emissions. */
  async function deletingSource(count: number) {
    const source = await storeSource(platform, { state: "deleting", active: false, name_slug: "mine" });
    const { id } = await createWebhook(platform, {
      ownerId: source.owner_id,
      userId: source.owner_id,
      url: "http://127.0.0.1:1/",
    });
    await Subscriptions(platform.mongo).insertOne({
      _id: newId("sub"),
      owner_id: source.owner_id,
      user_id: source.owner_id,
      emitter_id: source._id,
      listener_id: id,
      event_name: "",
      filter: null,
      created_at: 0,
    });
    const run_id = newId("run");
    const [record] = await recordRuns(platform, [
      {
        _id: run_id,
        source_id: source._id,
        owner_id: source.owner_id,
        kind: "http",
        outcome: "ok",
        duration_ms: 1,
        emitted: count,
        dropped: {},
        emissions: Array.from({ length: count }, (_, n) => ({
          emitter_id: source._id,
          emit_id: `${run_id}-${n}`,
          event: n,
        })),
      },
    ]);
    if (!record) throw new Error("no record");
    return { source, record };
  }

  it("waits until everything that the source had emitted is on its way to its listeners", async () => {
    const { source, record } = await deletingSource(300);
    expect(await finishDeletion(platform, source), "in its outbox").to.equal(false);
    await sendOutbox(platform, record);
    aheadMs = 60_000;
    await sweep(platform, "deleting");
    expect(await exists(source._id), "on their queue").to.equal(true);
    for (const job of await openedQueue(platform.queues, emissions).getJobs(["waiting", "prioritized"])) {
      const results = await emitAll(platform, emissionsIn(job.data));
      expect(results.every(result => typeof result === "object" && result?.listeners === 1)).to.equal(true);
      // A job that is repeated counts nothing twice.
      await emitAll(platform, emissionsIn(job.data));
    }
    expect(await sweep(platform, "deleting")).to.equal(1);
    expect(await exists(source._id)).to.equal(false);
    const jobs = await openedQueue(platform.queues, deliveries).getJobs(["waiting", "prioritized"]);
    expect(
      new Set(jobs.flatMap(({ data }) => data.events.map(({ id }: { id: string }) => id))).size,
    ).to.equal(300);
  });

  it("does not wait for ever, and frees the source's slug at once", async () => {
    const { source } = await deletingSource(1);
    expect(await finishDeletion(platform, source)).to.equal(false);
    await storeSource(platform, { name_slug: "mine" });
    aheadMs = 601_000;
    expect(await sweep(platform, "deleting")).to.equal(1);
    expect(await exists(source._id)).to.equal(false);
  });

  it("does not wait for emissions whose run was never recorded, because its worker was killed", async () => {
    const source = await storeSource(platform, { state: "deleting", active: false });
    await platform.eventLog.reserve(source._id, 3);
    const other = { emitter_id: newId("dc"), emit_id: "1", event: 1 };
    await enqueue(platform.queues, emissions.jobs.emissions, other);
    expect(await finishDeletion(platform, source), "while the queue may hold them").to.equal(false);
    await openedQueue(platform.queues, emissions).drain();
    expect(await finishDeletion(platform, source)).to.equal(true);
    expect(await exists(source._id)).to.equal(false);
  });

  it("is at once for a source that has nothing on its way", async () => {
    const source = await storeSource(platform, { state: "deleting", active: false });
    expect(await finishDeletion(platform, source)).to.equal(true);
    expect(await exists(source._id)).to.equal(false);
  });
});
