import { expect } from "chai";
import { newId } from "../../src/lib/ids.ts";
import { openedQueue } from "../../src/queues/define-queue.ts";
import {
  EMISSIONS_PER_JOB,
  type Emission,
  emissions,
  emissionsIn,
  openPublisher,
  packEmissions,
} from "../../src/queues/emissions.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";

const emission = (n: number, event: unknown = n): Emission => ({
  emitter_id: "p_0000000000000000",
  emit_id: `e${n}`,
  event,
});

describe("publishing emissions", () => {
  let platform: TestPlatform;
  before(async () => {
    platform = await openTestPlatform();
  });
  after(() => platform.destroy());

  it("packs emissions that arrive together into few jobs, in order, and resolves once Redis has them", async () => {
    const publish = openPublisher(platform.queues);
    const emitter_id = newId("p");
    await Promise.all(Array.from({ length: 150 }, (_, n) => publish({ ...emission(n), emitter_id })));
    const jobs = await openedQueue(platform.queues, emissions).getJobs(
      ["waiting", "prioritized"],
      0,
      -1,
      true,
    );
    expect(jobs.length).to.be.below(10);
    expect(jobs.flatMap(job => emissionsIn(job.data)).map(one => one.event)).to.deep.equal(
      Array.from({ length: 150 }, (_, n) => n),
    );
  });

  it("enqueues a single emission as the public job, unchanged", () => {
    expect(packEmissions([emission(1)])).to.deep.equal([emission(1)]);
  });

  it("limits a job's emissions and bytes, and gives an oversized event a job of its own", () => {
    const many = Array.from({ length: EMISSIONS_PER_JOB + 1 }, (_, n) => emission(n));
    expect(packEmissions(many).map(job => emissionsIn(job).length)).to.deep.equal([EMISSIONS_PER_JOB, 1]);
    const large = "x".repeat(300 * 1024);
    const sizes = packEmissions([emission(1, large), emission(2, large), emission(3)]).map(
      job => emissionsIn(job).length,
    );
    expect(sizes).to.deep.equal([1, 2]);
  });
});
