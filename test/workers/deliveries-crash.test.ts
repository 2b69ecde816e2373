import { expect } from "chai";
import { choosePort } from "../../script/lib/ports.mjs";
import { saveFunction } from "../../src/functions/save-function.ts";
import { Deliveries, TransformedPayloads } from "../../src/models/delivery.ts";
import { Subscriptions } from "../../src/models/subscription.ts";
import { openedQueue } from "../../src/queues/define-queue.ts";
import { deliveries } from "../../src/queues/deliveries.ts";
import type { RunningWorker } from "../../src/queues/run-worker.ts";
import { start as startDeliveries } from "../../workers/deliveries.ts";
import {
  deliveriesOf,
  emit,
  OWNER,
  onlyDelivery,
  type Subscribed,
  subscribe,
} from "../deliveries/fixtures.ts";
import { emitTo, eventsInOrder } from "../deliveries/rate-limited-webhook.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { sweep } from "../support/sweep.ts";
import { until } from "../support/until.ts";
import { environmentOf, spawnWorker, type WorkerProcess, whenReady } from "./worker-process.ts";

describe("deliveries worker as a process", () => {
  let platform: TestPlatform;
  let endpoint: Receiver;
  let listener: Subscribed;
  let child: WorkerProcess | undefined;
  let worker: RunningWorker | undefined;

  beforeEach(async () => {
    const env = { TIMEOUTS: "stalled:1s", DELIVERY_RETRY_SCHEDULE: "90s" };
    platform = await openTestPlatform(env, { process: "deliveries" });
    endpoint = await startReceiver(200);
    listener = await subscribe(platform, endpoint.url);
  });
  afterEach(async () => {
    child?.kill("SIGKILL");
    await child?.ended;
    child = undefined;
    await worker?.close(5000);
    worker = undefined;
    await endpoint.close();
    await platform.destroy();
  });

  const start = async (env: Record<string, string> = {}) => {
    child = spawnWorker("deliveries", { ...environmentOf(platform.config), ...env });
    await whenReady(child);
    return child;
  };
  /** Goes on in this process. */
  const goOn = () => {
    worker = startDeliveries(platform);
  };
  const delivered = () =>
    until(async () => {
      const delivery = await onlyDelivery(platform, listener.webhookId);
      return delivery.state === "delivered" && delivery;
    });

  it("repeats an attempt under the same webhook-id if it is killed before recording it", async () => {
    const first = await start();
    endpoint.script(() => {
      first.kill("SIGKILL");
      return 200;
    }, 200);
    await emit(platform, [listener]);
    expect(await first.ended).to.equal("SIGKILL");
    goOn();
    const delivery = await delivered();
    await worker?.close(5000);
    expect(endpoint.requests.map(({ headers }) => headers["webhook-id"])).to.deep.equal([
      delivery._id,
      delivery._id,
    ]);
    expect(await platform.redis.zcard(platform.keys.webhookPermits(listener.webhookId))).to.equal(0);
  });

  for (const [failpoint, requests] of [
    ["function-results-stored", 1],
    ["attempt-made", 2],
  ] as const) {
    it(`sends what a function once made of an event, if it is killed at ${failpoint} before recording the attempt @long`, async () => {
      const code = "export default event => ({ ...event, made: Math.random() });";
      await Subscriptions(platform.mongo).updateOne(
        { _id: listener.subscriptionId },
        { $set: { function_hash: await saveFunction(platform, OWNER, code) } },
      );
      const first = await start({ NODE_ENV: "test", HEADWATER_FAILPOINT: failpoint });
      await emitTo(platform, eventsInOrder(1), [listener]);
      expect(await first.ended, first.output()).to.equal("SIGKILL");
      const stored = await TransformedPayloads(platform.mongo).find().lean();
      expect(stored).to.have.length(1);
      // On a busy machine its sandbox takes so long to start that the attempt has left its job.
      const [pending] = await deliveriesOf(platform, listener.webhookId);
      expect(pending?.attempts ?? [], "recorded").to.deep.equal([]);
      goOn();
      if (pending) {
        // Its attempt must have ended by now.
        const ended = platform.clock() - 1;
        const due = { next_attempt_at_ms: ended, sweep_at_ms: ended, in_flight_until_ms: ended };
        await Deliveries(platform.mongo).updateOne({ _id: pending._id }, { $set: due });
        expect(await sweep(platform, "deliveries")).to.equal(1);
      }
      const { _id } = await delivered();
      const sent = { id: _id, body: stored[0]?.body };
      expect(
        endpoint.requests.map(({ headers, raw }) => ({ id: headers["webhook-id"], body: raw })),
      ).to.deep.equal(Array(requests).fill(sent));
    });
  }

  it("makes the attempt of a delivery that was stored and never enqueued, after a sweep", async () => {
    await emit(platform, [listener]);
    await openedQueue(platform.queues, deliveries).obliterate({ force: true });
    goOn();
    await until(() => sweep(platform, "deliveries"));
    await delivered();
    expect(endpoint.requests).to.have.length(1);
  });

  it("makes the next attempt that was recorded and never enqueued, after a sweep", async () => {
    endpoint.script(500, 200);
    goOn();
    await emit(platform, [listener]);
    const { _id } = await onlyDelivery(platform, listener.webhookId);
    const queue = openedQueue(platform.queues, deliveries);
    const delayed = async () => {
      const jobs = await queue.getDelayed();
      return jobs.find(({ delay }) => delay > 60_000);
    };
    const job = await until(delayed, { what: "the drain that is to make the next attempt" });
    await job.remove();
    const past = { next_attempt_at_ms: platform.clock() - 1, sweep_at_ms: platform.clock() };
    await Deliveries(platform.mongo).updateOne({ _id, state: "pending", generation: 1 }, { $set: past });
    expect(await sweep(platform, "deliveries")).to.equal(1);
    await delivered();
    expect(endpoint.requests).to.have.length(2);
  });

  it("serves its health on its own port, logs one line an attempt without the URL, headers or keys, and ends with code 0 on SIGTERM", async () => {
    const port = await choosePort(0);
    const running = await start({ WORKER_PORT: String(port) });
    const response = await fetch(`http://127.0.0.1:${port}/healthz`);
    expect(response.status).to.equal(200);
    expect((await fetch(`http://127.0.0.1:${port}/other`)).status).to.equal(404);

    const secret = await subscribe(platform, `${endpoint.url}?token=s3cret`, {
      headers: { authorization: "Bearer s3cret" },
    });
    await emit(platform, [secret]);
    const line = await until(() =>
      running
        .output()
        .split("\n")
        .find(text => text.includes('"msg":"job"')),
    );
    const { _id, event_id } = await onlyDelivery(platform, secret.webhookId);
    expect(JSON.parse(line)).to.include({
      queue: "deliveries",
      delivery_id: _id,
      webhook_id: secret.webhookId,
      event_id,
      result: "delivered",
      status: 200,
      attempt_number: 1,
    });
    expect(running.output()).not.to.match(/s3cret|whsec_|token/);

    running.kill("SIGTERM");
    expect(await running.ended).to.equal(0);
  });

  it("exits with one line that names an invalid setting", async () => {
    child = spawnWorker("deliveries", { ...environmentOf(platform.config), TIMEOUTS: "attempt:soon" });
    expect(await child.ended).to.equal(78);
    const lines = child.output().trim().split("\n");
    expect(lines).to.have.length(1);
    expect(lines[0]).to.match(/^deliveries: configuration: TIMEOUTS /);
  });
});
