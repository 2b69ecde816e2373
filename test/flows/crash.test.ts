import { expect } from "chai";
import type { SourceView } from "../support/api.ts";
import { until } from "../support/until.ts";
import { openProcesses, type Processes } from "./processes.ts";

const CODE = `export default { name: "Counter", version: "0.0.1", dedupe: "unique",
  props: { http: "$.interface.http", db: "$.service.db" },
  run(event) {
    this.db.set("seen", (this.db.get("seen") ?? 0) + 1);
    this.$emit({ n: event.body.n }, { id: event.body.n });
  } };`;

describe("processes that are killed", () => {
  let processes: Processes;
  before(async () => {
    processes = await openProcesses();
  });
  after(() => processes?.close());

  const send = (source: SourceView, n: number) =>
    fetch(source.configured_props.http?.endpoint_url ?? "", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ n }),
    });
  const subscribed = async () => {
    const { api, receiver } = processes;
    const source = await api.createSource({ component_code: CODE });
    await api.subscribe(source.id, (await api.createWebhook(receiver.url)).id);
    return source;
  };

  it("lose nothing if each is killed after its step, before the next one starts", async () => {
    const { platform, receiver, start, kill } = processes;
    await start("web");
    const source = await subscribed();
    expect((await send(source, 1)).status).to.equal(200);
    await kill("web");

    await start("runs");
    await until(async () => (await platform.queues.get("emissions")?.getWaitingCount()) === 1, {
      what: "the emission",
    });
    await kill("runs");

    await start("emissions");
    await until(async () => (await platform.queues.get("deliveries")?.getWaitingCount()) === 1, {
      what: "the delivery",
    });
    await kill("emissions");

    await start("deliveries");
    await until(() => receiver.requests.length === 1, { what: "the request" });
    expect(JSON.parse(receiver.requests[0]?.raw ?? "")).to.deep.equal({ n: 1 });
  });
});
