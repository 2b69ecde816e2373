import { expect } from "chai";
import { addMember, createOrganization, removeMember } from "../../src/accounts/organizations.ts";
import { createUser } from "../../src/accounts/users.ts";
import { carriedBy } from "../../src/events/fan-out.ts";
import { newId } from "../../src/lib/ids.ts";
import { enqueueRuns } from "../../src/queues/runs.ts";
import { executeQueuedRuns } from "../../src/runs/handle-job.ts";
import { readDrops } from "../../src/store/events/drops.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { jobOf, resultOf, storeRunnableSource, withSandbox } from "./runnable-source.ts";

type Account = "user" | "org";

describe("an event that waits in the run queue of a source that listens", () => {
  let platform: TestPlatform;
  before(async () => {
    platform = await openTestPlatform({}, { process: "runs" });
  });
  after(() => platform.destroy());

  const user = async () => (await createUser(platform, { email: `${newId("u")}@example.test` })).id;

  const cases: { emitter: Account; listener: Account; runs: number[] }[] = [
    { emitter: "org", listener: "user", runs: [1, 3] },
    { emitter: "user", listener: "org", runs: [1, 3] },
    { emitter: "user", listener: "user", runs: [1, 2, 3] },
  ];
  for (const { emitter, listener, runs } of cases) {
    const what = runs.includes(2) ? "runs" : "is dropped and counted";
    it(`${what} after a member has left: ${emitter}'s emitter, ${listener}'s source`, async () => {
      const [operator, member] = [await user(), await user()];
      const { id: org } = await createOrganization(platform, { name: "Org", ownerId: operator });
      await addMember(platform, org, member);
      const accounts = { user: member, org };
      const source = await storeRunnableSource(platform, { owner_id: accounts[listener] });
      const emitted = { emitter_id: newId("dc"), owner_id: accounts[emitter] };
      const carried = carriedBy(emitted, { owner_id: member }, source);
      const items = [1, 2, 3].map(n => ({
        ...{ kind: "event" as const, run_id: newId("run"), at_ms: Date.now(), event: { n } },
        ...(n === 2 && carried),
      }));
      await enqueueRuns(platform, source._id, items);
      await removeMember(platform, { orgId: org, userId: member, callerId: member });
      const executed: unknown[] = [];
      const deps = withSandbox(platform, ({ events }) => {
        // One at a time, as the stub says.
        executed.push(events[0]);
        return resultOf();
      });
      await executeQueuedRuns(deps, jobOf(platform, source._id, 0));
      expect(executed.map(event => (event as { n: number }).n)).to.deep.equal(runs);
      const dropped = (await readDrops(platform, emitted.emitter_id))["listener-absent"] ?? 0;
      expect(dropped).to.equal(runs.includes(2) ? 0 : 1);
    });
  }
});
