import { readFileSync } from "node:fs";
import { Ajv } from "ajv";
import type { Job } from "bullmq";
import { expect } from "chai";
import { whatIsNewer } from "../../src/queues/define-queue.ts";
import { consumedQueues } from "../../src/queues/index.ts";
import { RECORDED, type RecordedJob } from "./record.ts";
import { PREVIOUS_READS } from "./releases.ts";

/** Both ways of a rolling deployment, without the processes: `npm run test:upgrade` runs them. */
describe("jobs of the release before and of this one", () => {
  const recorded = JSON.parse(readFileSync(RECORDED, "utf8")) as RecordedJob[];

  it("are recorded for the main kinds", () => {
    expect(recorded.map(({ queue, name }) => `${queue} ${name}`)).to.deep.equal([
      "deliveries first-attempts",
      "deliveries next-attempt",
      "emissions emissions",
      "runs notify",
      "runs tick",
    ]);
  });

  for (const job of recorded) {
    it(`are known to the workers of this release: ${job.name} of ${job.queue}, as it was enqueued before`, () => {
      const queue = consumedQueues.find(({ name }) => name === job.queue);
      if (!queue) throw new Error(`no queue ${job.queue}`);
      expect(whatIsNewer(queue, job as unknown as Job)).to.equal(undefined);
      const validate = new Ajv({ strict: false }).compile(queue.jobs[job.name]?.schema ?? {});
      expect(validate(job.data), JSON.stringify(validate.errors)).to.equal(true);
    });
  }

  for (const { name, jobs } of consumedQueues) {
    it(`are known to the workers of the release before: what this one enqueues on ${name} (CONTRIBUTING.md)`, () => {
      for (const [kind, { reads, writes }] of Object.entries(jobs)) {
        const known = PREVIOUS_READS[name]?.[kind] ?? 0;
        expect(writes, `writes of ${kind}: a release reads what the next one enqueues`).to.be.at.most(known);
        expect(writes, kind).to.be.at.most(reads);
      }
    });
  }
});
