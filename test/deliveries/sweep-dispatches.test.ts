import { expect } from "chai";
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

  it("dispatches an event whose job was lost again, in the trace that it is in", async () => {
    const { subscriptionId, webhookId } = await subscribe(platform, "http://127.0.0.1:1/");
    const { _id } = await storeEvent(platform, 1, {
      trace: TRACE,
      pending_dispatch: {
        listeners: [[subscriptionId, webhookId, OWNER]],
        webhook_ids: [],
        job_id: "lost",
        sweep_at_ms: platform.clock() - 1,
      },
    });
    expect(await sweep(platform, "dispatches")).to.equal(1);
    const [job] = await openedQueue(platform.queues, deliveries).getJobs(["waiting", "prioritized"]);
    const data: FirstAttempts | undefined = job?.data;
    expect(data?.is_redispatch).to.equal(true);
    expect(data?.events[0]).to.deep.include({ id: _id, trace: TRACE });
  });
});
