import { expect } from "chai";
import type { StoredEvent } from "../../src/models/event.ts";
import { openedQueue } from "../../src/queues/define-queue.ts";
import { deliveries, type FirstAttempts } from "../../src/queues/deliveries.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { sweep } from "../support/sweep.ts";
import { OWNER, storeEvent, subscribe } from "./fixtures.ts";

const TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

describe("sweep of dispatches", () => {
  let platform: TestPlatform;
  beforeEach(async () => {
    platform = await openTestPlatform({}, { process: "runs" });
  });
  afterEach(() => platform.destroy());

  const lostFor = async (owner_id: string, fields: Partial<StoredEvent> = {}) => {
    const { subscriptionId, webhookId } = await subscribe(platform, "http://127.0.0.1:1/", {
      ownerId: owner_id,
    });
    const listeners: [string, string, string][] = [[subscriptionId, webhookId, owner_id]];
    const sweep_at_ms = platform.clock() - 1;
    const pending_dispatch = { listeners, webhook_ids: [], job_id: "lost", sweep_at_ms };
    return (await storeEvent(platform, 1, { owner_id, pending_dispatch, ...fields }))._id;
  };
  const jobs = async (): Promise<FirstAttempts[]> =>
    (await openedQueue(platform.queues, deliveries).getJobs(["waiting", "prioritized"])).map(
      ({ data }) => data,
    );

  it("dispatches an event whose job was lost again, in the trace that it is in", async () => {
    const id = await lostFor(OWNER, { trace: TRACE });
    expect(await sweep(platform, "dispatches")).to.equal(1);
    const [job] = await jobs();
    expect(job?.is_redispatch).to.equal(true);
    expect(job?.events[0]).to.deep.include({ id, trace: TRACE });
  });

  it("packs what an account has lost into few jobs, in its own turn", async () => {
    const [other, first, second] = [await lostFor("u_other"), await lostFor(OWNER), await lostFor(OWNER)];
    expect(await sweep(platform, "dispatches")).to.equal(3);
    const idsOf = (account: string) =>
      jobs().then(all =>
        all.filter(job => job.account_id === account).map(({ events }) => events.map(({ id }) => id)),
      );
    expect(await idsOf("u_other")).to.deep.equal([[other]]);
    const [ids = [], ...more] = await idsOf(OWNER);
    expect([ids.sort(), more]).to.deep.equal([[first, second].sort(), []]);
    expect(await sweep(platform, "dispatches"), "they have a job").to.equal(0);
  });
});
