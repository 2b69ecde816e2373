import { expect } from "chai";
import { Deliveries } from "../../src/models/delivery.ts";
import { RunRecords } from "../../src/models/run.ts";
import { enqueueAll } from "../../src/queues/define-queue.ts";
import { emissions } from "../../src/queues/emissions.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";

const EMITTER = `export default { name: "Emitter", version: "0.0.1", props: { http: "$.interface.http" }, run() {} };`;
const LISTENER = `export default { name: "Listener", version: "0.0.1", run() {} };`;

describe("an emission that is handled several times", () => {
  let system: System;
  let receiver: Receiver;
  before(async () => {
    system = await startSystem();
    receiver = await startReceiver(200);
  });
  after(async () => {
    await system.stop();
    await receiver.close();
  });

  it("is stored, delivered and run by a listening source once, also after its delivery", async () => {
    const api = await system.user();
    const emitter = await api.createSource({ component_code: EMITTER });
    const listener = await api.createSource({ component_code: LISTENER });
    await api.subscribe(emitter.id, (await api.createWebhook(receiver.url)).id);
    await api.subscribe(emitter.id, listener.id);
    const emission = { emitter_id: emitter.id, emit_id: "run_once-0", event: { n: 1 } };
    const { queues, mongo } = system.worker;
    const idle = () =>
      until(
        async () => {
          const counts = [...queues.values()].map(queue =>
            queue.getJobCountByTypes("waiting", "prioritized", "active", "delayed"),
          );
          return (await Promise.all(counts)).every(count => count === 0);
        },
        { what: "all queues to be idle" },
      );

    await enqueueAll(queues, emissions.jobs.emissions, [emission, emission, emission]);
    await until(() => receiver.requests.length > 0, { what: "the delivery" });
    await until(async () => Deliveries(mongo).exists({ state: "delivered" }));
    await idle();
    await enqueueAll(queues, emissions.jobs.emissions, [emission]);
    await idle();

    expect(receiver.requests.map(({ headers }) => headers["webhook-id"])).to.have.length(1);
    expect(await Deliveries(mongo).countDocuments({ emitter_id: emitter.id })).to.equal(1);
    // A run is recorded a moment after it is acknowledged.
    await until(() => RunRecords(mongo).exists({ source_id: listener.id }));
    expect(await RunRecords(mongo).countDocuments({ source_id: listener.id })).to.equal(1);
    expect(await api.summaries(emitter.id)).to.have.length(1);
  });
});
