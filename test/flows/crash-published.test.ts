// runs-long: npm test has test/flows/crash.test.ts and test/accepted/accepted.test.ts
import { expect } from "chai";
import { until } from "../support/until.ts";
import { openProcesses, type Processes } from "./processes.ts";

describe("processes that are killed", () => {
  let processes: Processes;
  before(async () => {
    processes = await openProcesses();
  });
  after(() => processes?.close());

  it("lose no published event whose 202 was sent, and deliver it under one webhook-id", async () => {
    const { platform, receiver, api, running, spawn, start, kill } = processes;
    await start("web");
    const { id } = await api.expect(201, "POST", "/workflows", { body: { name: "Flow" } });
    await api.subscribe(id, (await api.createWebhook(receiver.url)).id);
    const publish = (event: number) =>
      api.expect(202, "POST", `/workflows/${id}/events`, { body: { event, id: `order-${event}` } });
    await publish(1);
    await kill("web");

    await start("emissions");
    await until(async () => (await platform.queues.get("deliveries")?.getWaitingCount()) === 1, {
      what: "the delivery",
    });
    await kill("emissions");
    await start("web");
    // As a caller does that did not see the response.
    await publish(1);
    await publish(2);
    // Before it starts: its first request may arrive before it has said that it is ready.
    let isKilled = false;
    receiver.script(() => {
      if (isKilled) return 200;
      isKilled = true;
      running.get("deliveries")?.kill("SIGKILL");
      return 200;
    });
    await start("emissions");
    spawn("deliveries");
    await until(() => isKilled, { what: "a request" });
    await running.get("deliveries")?.ended;
    await start("deliveries");
    const idsOf = (raw: string) =>
      receiver.requests.filter(request => request.raw === raw).map(({ headers }) => headers["webhook-id"]);
    await until(() => idsOf("1").length > 0 && idsOf("2").length > 0, { what: "both events" });
    expect(new Set([...idsOf("1"), ...idsOf("2")]).size, "one webhook-id for each event").to.equal(2);
  });
});
