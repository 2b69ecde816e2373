import { expect } from "chai";
import { newId } from "../../src/lib/ids.ts";
import { type RunRecord, RunRecords } from "../../src/models/run.ts";
import { openedQueue } from "../../src/queues/define-queue.ts";
import { emissions, emissionsIn } from "../../src/queues/emissions.ts";
import { sendOutbox } from "../../src/runs/outbox.ts";
import { recordRuns } from "../../src/runs/record.ts";
import { readDrops } from "../../src/store/events/drops.ts";
import { storeSource } from "../sources/source-row.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { sweep } from "../support/sweep.ts";
import { until } from "../support/until.ts";

describe("the outbox of a run", () => {
  let platform: TestPlatform;
  beforeEach(async () => {
    platform = await openTestPlatform();
  });
  afterEach(() => platform.destroy());

  const DEEP = `${"[".repeat(50_000)}${"]".repeat(50_000)}`;

  /** Stores a run that has not sent what it emitted; `events` are JSON texts. */
  async function storeRun(sourceId: string, events: string[]) {
    const _id = newId("run");
    const texts = events.map(
      (event, n) => `{"emitter_id":"${sourceId}","emit_id":"${_id}-${n}","name":"","event":${event}}`,
    );
    const record = {
      _id,
      source_id: sourceId,
      owner_id: "u_1",
      kind: "http",
      outcome: "ok",
      duration_ms: 1,
      emitted: events.length,
      dropped: {},
      outbox: texts,
      finished_at: new Date(0),
      expires_at: new Date(Date.now() + 3_600_000),
    };
    await RunRecords(platform.mongo).create(record);
    return record;
  }
  /** A run that emitted so many events. */
  function finishedRun(source_id: string, count: number) {
    const _id = newId("run");
    return {
      _id,
      source_id,
      owner_id: "u_1",
      kind: "http",
      outcome: "ok",
      duration_ms: 1,
      emitted: count,
      dropped: {},
      emissions: Array.from({ length: count }, (_, n) => ({
        emitter_id: source_id,
        emit_id: `${_id}-${n}`,
        event: n,
      })),
    };
  }
  /** The events on the queue, in the order of their scores, which decides. */
  const queued = async () => {
    const jobs = await openedQueue(platform.queues, emissions).getJobs(
      ["waiting", "prioritized"],
      0,
      -1,
      true,
    );
    const all = jobs.flatMap(job => emissionsIn(job.data));
    return all.sort((a, b) => (a.score ?? 0) - (b.score ?? 0)).map(({ event }) => event);
  };

  it("is sent in order without the emissions that can't be enqueued, which are counted", async () => {
    const { _id } = await storeSource(platform);
    const many = Array.from({ length: 300 }, (_, n) => `${n}`);
    const events = [...many, DEEP, "300", "not JSON", "301", DEEP];
    const record = await storeRun(_id, events);
    expect(await sendOutbox(platform, record)).to.equal(305);
    expect(await queued()).to.deep.equal([...many.map(Number), 300, 301]);
    expect(await readDrops(platform, _id)).to.deep.equal({ invalid: 3 });
  });

  it("is sent again after a crash, whatever the other lost outboxes hold", async () => {
    const { _id } = await storeSource(platform);
    for (const event of [DEEP, "1", DEEP, "2"]) await storeRun(_id, [event]);
    expect(await sweep(platform, "outboxes")).to.equal(4);
    expect(await queued()).to.have.members([1, 2]);
    await until(async () => (await sweep(platform, "outboxes")) === 0);
  });

  it("keeps the order of its emissions, and that of later runs, however often and by whomever it is sent", async () => {
    const { _id: sourceId } = await storeSource(platform);
    const sent: RunRecord[] = [];
    for (let n = 0; n < 4; n++) {
      const [record] = await recordRuns(platform, [finishedRun(sourceId, 300)]);
      if (record) sent.push(record);
      // The worker, which was slow, and the reconciler; and each run's sender goes on after the next run was sent.
      for (const earlier of sent)
        await Promise.all([sendOutbox(platform, earlier), sendOutbox(platform, earlier)]);
    }
    const jobs = await openedQueue(platform.queues, emissions).getJobs(
      ["waiting", "prioritized"],
      0,
      -1,
      true,
    );
    const all = jobs.flatMap(job => emissionsIn(job.data));
    const scores = new Map<string, Set<number>>();
    for (const { emit_id, score = 0 } of all) {
      scores.set(emit_id, (scores.get(emit_id) ?? new Set()).add(score));
    }
    expect([...scores.values()].filter(({ size }) => size !== 1)).to.deep.equal([]);
    const inOrder = sent.flatMap(({ outbox = [] }) => outbox.map(text => JSON.parse(text).emit_id));
    const byScore = [...scores].sort(([, [a = 0]], [, [b = 0]]) => a - b).map(([emitId]) => emitId);
    expect(byScore).to.deep.equal(inOrder);
  });
});
