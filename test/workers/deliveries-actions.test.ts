import { expect } from "chai";
import { Deliveries } from "../../src/models/delivery.ts";
import { start as startDeliveries } from "../../workers/deliveries.ts";
import { emit, onlyDelivery } from "../deliveries/fixtures.ts";
import { subscribeDestination } from "../destinations/fixtures.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { sweep } from "../support/sweep.ts";
import { until } from "../support/until.ts";
import { environmentOf, spawnWorker, type WorkerProcess, whenReady } from "./worker-process.ts";

const POSTER = `export default {
  name: "Poster", version: "0.0.1", type: "action", props: { url: "string" },
  async run({ steps }) {
    await fetch(this.url, { method: "POST", headers: { "x-id": steps.trigger.context.id } });
  },
};`;
const SANDBOX_EGRESS_ALLOW = "127.0.0.0/8";

describe("deliveries worker that runs an action", () => {
  let platform: TestPlatform;
  let endpoint: Receiver;
  let child: WorkerProcess | undefined;

  before(async () => {
    platform = await openTestPlatform(
      { TIMEOUTS: "stalled:1s", SANDBOX_EGRESS_ALLOW },
      { process: "deliveries" },
    );
    endpoint = await startReceiver(200);
  });
  after(async () => {
    child?.kill("SIGKILL");
    await child?.ended;
    await endpoint.close();
    await platform.destroy();
  });

  it("repeats it under the same id if it is killed in the middle @long", async () => {
    const action = { component_code: POSTER, configured_props: { url: endpoint.url } };
    const listener = await subscribeDestination(platform, { action });
    const { webhookId } = listener;
    const first = spawnWorker("deliveries", { ...environmentOf(platform.config), SANDBOX_EGRESS_ALLOW });
    child = first;
    await whenReady(first);
    endpoint.script(() => {
      first.kill("SIGKILL");
      return "hang";
    }, 200);
    await emit(platform, [listener]);
    expect(await first.ended).to.equal("SIGKILL");
    // As it is once the time of a run and two minutes have passed; only an attempt that had left its job needs it.
    const { _id } = await onlyDelivery(platform, webhookId);
    const ended = platform.clock();
    const due = { next_attempt_at_ms: ended, sweep_at_ms: ended, in_flight_until_ms: ended };
    await Deliveries(platform.mongo).updateOne({ _id }, { $set: due });
    await platform.redis.del(platform.keys.webhookPermits(webhookId));
    const worker = startDeliveries(platform);
    await until(async () => {
      await sweep(platform, "deliveries");
      return (await onlyDelivery(platform, webhookId)).state === "delivered";
    });
    await worker.close(5000);
    expect(endpoint.requests.map(({ headers }) => headers["x-id"])).to.deep.equal([_id, _id]);
  });
});
