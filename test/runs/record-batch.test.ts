import { expect } from "chai";
import { newId } from "../../src/lib/ids.ts";
import { RunRecords } from "../../src/models/run.ts";
import { LeaseLost, readMemory } from "../../src/runs/record.ts";
import { BatchRecorder, type EndedRun } from "../../src/runs/record-batch.ts";
import { storeSource } from "../sources/source-row.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";

describe("BatchRecorder", () => {
  let platform: TestPlatform;
  before(async () => {
    platform = await openTestPlatform();
  });
  after(() => platform.destroy());

  const ended = (source_id: string, runId = newId("run")): EndedRun => ({
    run: {
      _id: runId,
      source_id,
      owner_id: "u_1",
      kind: "http",
      outcome: "ok",
      duration_ms: 1,
      emitted: 0,
      dropped: {},
      emissions: [],
    },
    item: { kind: "http", run_id: runId, at_ms: 0, event: null },
    error: undefined,
    hasResponded: false,
  });
  const db = (n: number) => ({ db: { n }, dedupe: {}, version: 0 });
  const recorded = (id: string) => RunRecords(platform.mongo).countDocuments({ source_id: id });

  it("stores the latest memory, even if more runs end during a write", async () => {
    const source = await storeSource(platform);
    const record = new BatchRecorder(platform, source, await readMemory(platform, source._id));
    for (let n = 1; n <= 5; n++) record.add(ended(source._id), db(n));
    const first = record.end();
    await new Promise(resolve => setImmediate(resolve));
    for (let n = 6; n <= 9; n++) record.add(ended(source._id), db(n));
    await Promise.all([first, record.end()]);
    expect(await recorded(source._id)).to.equal(9);
    expect(await readMemory(platform, source._id)).to.deep.equal({ ...db(9), version: 2 });
  });

  it("records nothing after a failed write, and throws the same error again at the end", async () => {
    const source = await storeSource(platform);
    const memory = await readMemory(platform, source._id);
    const [other, mine] = [1, 2].map(() => new BatchRecorder(platform, source, memory));
    const twice = ended(source._id);
    other?.add(twice, db(1));
    await other?.end();
    mine?.add(twice, db(2));
    const errorOf = (promise?: Promise<void>) =>
      promise?.then(
        () => null,
        (error: unknown) => error,
      );
    expect(await errorOf(mine?.end())).to.be.instanceOf(LeaseLost);
    mine?.add(ended(source._id), db(3));
    expect(await errorOf(mine?.end())).to.be.instanceOf(LeaseLost);
    expect(await recorded(source._id)).to.equal(1);
    expect((await readMemory(platform, source._id)).db).to.deep.equal({ n: 1 });
  });
});
