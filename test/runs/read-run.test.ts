import { expect } from "chai";
import { timeOfId } from "../../src/lib/ids.ts";
import { LIMITS } from "../../src/limits/catalogue.ts";
import type { RunDetail } from "../../src/runs/schema.ts";
import type { Api } from "../support/api.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";

const CODE = `export default { name: "Shown", version: "0.0.1", props: { http: "$.interface.http" },
  run({ path, body }) {
    console.log("it begins");
    console.warn("it goes on");
    for (const id of body.ids) this.$emit({ id, text: "x".repeat(body.length ?? 0) });
    if (path === "/bad") throw new TypeError("no such city");
  } };`;

describe("a run, by its id", () => {
  let system: System;
  let receiver: Receiver;
  let api: Api;
  let source: string;
  let endpoint: string;

  before(async () => {
    system = await startSystem();
    receiver = await startReceiver();
    api = await system.user();
    const created = await api.createSource({ component_code: CODE, name: "till" });
    source = created.id;
    endpoint = created.configured_props.http?.endpoint_url ?? "";
    await api.subscribe(source, (await api.createWebhook(receiver.url, { name: "printer" })).id);
  });
  after(async () => {
    await receiver?.close();
    await system?.stop();
  });

  async function runWith(body: object, path = "/"): Promise<string> {
    const response = await fetch(`${endpoint}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return ((await response.json()) as { run_id: string }).run_id;
  }

  /** The run once what it emitted is there. */
  const read = (id: string, isComplete: (run: RunDetail) => boolean): Promise<RunDetail> =>
    until(async () => {
      const { status, body } = await api.request("GET", `/runs/${id}`);
      return status === 200 && isComplete(body.data) && body.data;
    });

  it("has what it emitted and logged in order, and the deliveries of that", async () => {
    const id = await runWith({ ids: ["a", "b"] });
    const run = await read(
      id,
      ({ deliveries }) => deliveries.every(({ state }) => state === "delivered") && deliveries.length === 2,
    );
    expect(run).to.include({ id, source_id: source, source_name: "till", outcome: "ok", error_event: null });
    expect(run.queued_at_ms)
      .to.equal(timeOfId(id))
      .and.be.at.most(run.started_at_ms ?? 0);
    expect(run.events.map(({ metadata }) => metadata.emit_id)).to.deep.equal([`${id}-0`, `${id}-1`]);
    expect(run.events[1]?.event).to.deep.equal({ raw_event: { id: "b", text: "" } });
    expect(run.logs.map(({ event }) => event)).to.have.length(2);
    expect(run.logs[1]?.event).to.include({ level: "warn", message: "it goes on" });
    expect(run.deliveries.map(({ event_id }) => event_id)).to.have.members(run.events.map(event => event.id));
    expect(run.deliveries[0]).to.include({ run_id: id, webhook_name: "printer" });
  });

  it("has its whole error, with what it received", async () => {
    const id = await runWith({ ids: [], note: "n".repeat(3000) }, "/bad");
    const { error_event, logs } = await read(id, run => run.error_event !== null);
    const { original_event, error } = (error_event?.event ?? {}) as Record<string, Record<string, unknown>>;
    expect(original_event?.body).to.deep.equal({ ids: [], note: "n".repeat(3000) });
    expect(error?.stack).to.match(/^TypeError: no such city\n.*component\.js:6:/);
    expect(logs).to.have.length(2);
  });

  it("has the first of many events, and without their data once their summaries are gone", async () => {
    const ids = Array.from({ length: LIMITS.runShown.value + 1 }, (_, n) => n);
    const id = await runWith({ ids });
    const run = await read(id, ({ events }) => events.length === LIMITS.runShown.value);
    expect(run.emitted).to.equal(ids.length);
    expect(run.events[0]?.event, "the first summary of 101 is trimmed").to.equal(null);
    expect(run.events.at(-1)?.event).to.deep.include({ raw_event: { id: ids.length - 2, text: "" } });
    expect(run.deliveries.length).to.be.at.most(LIMITS.runShown.value);
  });

  it("does not exist for others, nor under the id of a further part of its outbox", async () => {
    const id = await runWith({ ids: ["c"] });
    await read(id, () => true);
    const other = await system.user();
    expect((await other.request("GET", `/runs/${id}`)).status).to.equal(404);
    expect((await api.request("GET", `/runs/${id}~0001`)).status).to.equal(404);
  });
});
