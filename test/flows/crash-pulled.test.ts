// runs-long: npm test has test/destinations/pull/send.test.ts and test/deliveries/pull/routes.test.ts
import { expect } from "chai";
import { Deliveries } from "../../src/models/delivery.ts";
import { PulledEvents } from "../../src/models/pulled-event.ts";
import { until } from "../support/until.ts";
import { openProcesses, type Processes } from "./processes.ts";

interface Pulled {
  events: { id: string; event: number }[];
  cursor: string;
  truncated: boolean;
}

const COUNT = 40;

describe("events that a program pulls", () => {
  let processes: Processes;
  before(async () => {
    processes = await openProcesses();
  });
  after(() => processes?.close());

  const listener = async () => {
    const { api } = processes;
    const flow: string = (await api.expect(201, "POST", "/workflows", { body: { name: "Flow" } })).id;
    const { id } = await api.expect(201, "POST", "/destinations", { body: { pull: {} } });
    await api.subscribe(flow, id);
    return { flow, id: id as string };
  };
  const publish = (flow: string, from: number) => {
    const events = Array.from({ length: COUNT }, (_, i) => ({ event: from + i }));
    return processes.api.expect(202, "POST", `/workflows/${flow}/events`, { body: { events } });
  };

  it("are all there, each under one id, whichever process was killed before they were pulled", async () => {
    const { platform, api, spawn, start, kill } = processes;
    await start("web");
    const { flow, id } = await listener();
    await publish(flow, 0);
    await kill("web");
    await start("emissions");
    await until(async () => (await platform.queues.get("deliveries")?.getWaitingCount()) !== 0, {
      what: "the deliveries",
    });
    await kill("emissions");
    // Killed with the events kept, before it has recorded a delivery.
    const killed = spawn("deliveries", { NODE_ENV: "test", HEADWATER_FAILPOINT: "attempt-made" });
    expect(await killed.ended).to.equal("SIGKILL");
    expect(await PulledEvents(platform.mongo).exists({ listener_id: id }), "kept").not.to.equal(null);
    expect(await Deliveries(platform.mongo).exists({ webhook_id: id }), "recorded").to.equal(null);
    await start("web");
    const seen: { id: string; event: number }[] = [];
    let after: string | undefined;
    const pull = async () => {
      const query = { ...(after !== undefined && { after }), limit: 7 };
      const pulled: Pulled = await api.expect(200, "GET", `/listeners/${id}/events`, { query });
      expect(pulled.truncated).to.equal(false);
      seen.push(...pulled.events);
      after = pulled.cursor;
    };
    // Acknowledged before the repeated attempts.
    await pull();
    await pull();
    await publish(flow, COUNT);
    await start("emissions");
    await start("deliveries");
    await until(
      async () => {
        await pull();
        const query = { webhook_id: id, state: "delivered" } as const;
        return (
          seen.length >= 2 * COUNT && (await Deliveries(platform.mongo).countDocuments(query)) === 2 * COUNT
        );
      },
      { what: "all events" },
    );
    await pull();
    expect(seen.map(({ event }) => event).toSorted((a, b) => a - b)).to.deep.equal(
      Array.from({ length: 2 * COUNT }, (_, n) => n),
    );
    expect(new Set(seen.map(({ id }) => id)).size).to.equal(2 * COUNT);
  });
});
