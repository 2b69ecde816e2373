import { expect } from "chai";
import { deleteRange } from "../../src/events/stored-events.ts";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { TransformedPayloads } from "../../src/models/delivery.ts";
import type { Api } from "../support/api.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";

/** docs/functions.md */
describe("a function on a subscription", () => {
  let system: System;
  let api: Api & { userId: string };
  let flow: string;
  let receiver: Receiver;
  let webhook: string;

  before(async () => {
    system = await startSystem({ DELIVERY_RETRY_SCHEDULE: "1s,1s,1s,1s,1s,1s,1s,1s,1s,1s" });
  });
  beforeEach(async () => {
    receiver = await startReceiver();
    api = await system.user();
    flow = (await api.expect(201, "POST", "/workflows", { body: { name: "Flow" } })).id;
    webhook = (await api.createWebhook(receiver.url)).id;
  });
  afterEach(() => receiver.close());
  after(() => system.stop());

  const subscribe = (code: string | null, listener_id = webhook) =>
    api.expect(200, "POST", "/subscriptions", {
      query: { emitter_id: flow, listener_id },
      body: { function: code },
    });
  const publish = (...events: unknown[]) =>
    api.expect(202, "POST", `/workflows/${flow}/events`, {
      body: { events: events.map(event => ({ event })) },
    });
  const received = (at = receiver) => at.requests.map(({ raw }) => JSON.parse(raw));
  const deliveries = async (id = webhook) =>
    (await api.request("GET", `/webhooks/${id}/deliveries`, { query: { limit: 100 } })).body.data;
  const calls = () => system.worker.metrics.valueOf("function_calls_total");

  it("changes what its own webhook receives, and no other", async () => {
    const plain = await startReceiver();
    await api.subscribe(flow, (await api.createWebhook(plain.url)).id);
    const { id } = await subscribe(`type Order = { total: number };
      export default async (event: Order, meta: Record<string, unknown>) => ({ cents: event.total * 100, meta });`);
    await publish({ total: 3 });
    await until(() => received().length === 1 && received(plain).length === 1, { what: "both deliveries" });
    expect(received(plain)).to.deep.equal([{ total: 3 }]);
    const [{ cents, meta }] = received();
    expect(cents).to.equal(300);
    expect(meta).to.include({ emitter_id: flow, event_name: "", subscription_id: id, listener_id: webhook });
    expect(meta.event_id).to.equal(receiver.requests[0]?.headers["x-headwater-event-id"]);
    await plain.close();
    const [{ id: delivery }] = await until(async () => {
      const found = await deliveries();
      return found.length === 1 && found;
    });
    const detail = await api.expect(200, "GET", `/deliveries/${delivery}`, { query: { expand: "event" } });
    expect([detail.event, detail.transformed_event.cents]).to.deep.equal([{ total: 3 }, 300]);
  });

  it("drops an event for its webhook by null or undefined, which its delivery says", async () => {
    await subscribe(
      "export default event => (event.n === 1 ? null : event.n === 2 ? undefined : { n: event.n });",
    );
    await publish({ n: 1 }, { n: 2 }, { n: 3 });
    const rows: { state: string; reason: string | null }[] = await until(async () => {
      const found: { state: string; reason: string | null }[] = await deliveries();
      return found.length === 3 && found.every(({ state }) => state !== "pending") && found;
    });
    expect(received()).to.deep.equal([{ n: 3 }]);
    const ended = rows.map(({ state, reason }) => `${state} ${reason}`);
    expect(ended).to.have.members([
      "delivered null",
      "cancelled dropped-by-function",
      "cancelled dropped-by-function",
    ]);
  });

  it("is called once for an event: retries send the same bytes", async () => {
    await subscribe("export default event => ({ ...event, random: Math.random() });");
    receiver.script(503, "reset", 200);
    await publish({ n: 1 });
    await until(() => receiver.requests.length === 3, { what: "three attempts" });
    const bodies = new Set(receiver.requests.map(({ raw }) => raw));
    expect([...bodies]).to.have.length(1);
    expect(received()[0]).to.have.property("random");
    const [{ id }] = await until(async () => {
      const found = await deliveries();
      return found[0].state === "delivered" && found;
    });
    await api.expect(202, "POST", `/deliveries/${id}/retry`);
    await until(() => receiver.requests.length === 4, { what: "the retry by hand" });
    expect(receiver.requests[3]?.raw).to.equal([...bodies][0]);
  });

  it("fails the attempt when it throws, visibly, and delivers the event once it is corrected", async () => {
    const { id } = await subscribe(`export default event => {
  console.log("looking at", event.n);
  return { name: event.person.name };
};`);
    await publish({ n: 7 });
    const [delivery] = await until(async () => {
      const found = await deliveries();
      return found[0]?.attempts_made >= 1 && found;
    });
    expect(delivery.state).to.equal("pending");
    expect(delivery.last_attempt.status).to.equal(null);
    expect(delivery.last_attempt.error).to.match(/^function: .*'name'.* \(line 3, column \d+\)$/);
    const shown = await api.expect(200, "GET", `/subscriptions/${id}`);
    expect(shown.function_errors).to.be.at.least(1);
    expect(shown.last_function_error).to.include({ line: 3, event_id: delivery.event_id });
    expect(shown.last_function_error.logs[0]).to.include({ level: "info", message: "looking at 7" });
    // The endpoint has done nothing wrong.
    expect((await api.expect(200, "GET", `/webhooks/${webhook}`)).failing_since).to.equal(null);
    expect(receiver.requests).to.have.length(0);
    const corrected = await subscribe("export default event => ({ name: event.person?.name ?? 'unknown' });");
    expect(corrected).to.include({ id, function_errors: 0 });
    expect(corrected).not.to.have.property("last_function_error");
    await until(() => receiver.requests.length > 0, { what: "the delivery" });
    expect(received()[0]).to.deep.equal({ name: "unknown" });
  });

  it("is given many events in one call", async () => {
    await subscribe("export default event => ({ twice: event.n * 2 });");
    const before = await calls();
    await publish(...Array.from({ length: 100 }, (_, n) => ({ n })));
    await until(() => receiver.requests.length === 100, { what: "100 deliveries" });
    const twice = received().map(one => one.twice);
    expect(twice.sort((a, b) => a - b)).to.deep.equal(Array.from({ length: 100 }, (_, n) => n * 2));
    expect((await calls()) - before).to.be.within(1, 25);
  });

  it("that loops, ends its process or returns too much takes no other event of the call with it @long", async () => {
    await subscribe(`export default event => {
      if (event.n === 3) for (;;);
      if (event.n === 5) Deno.exit(1);
      if (event.n === 7) return { text: "x".repeat(600_000) };
      if (event.n === 9) return () => 1;
      if (event.n === 11) { let deep = {}; for (let i = 0; i < 200; i++) deep = { deep }; return deep; }
      return { n: event.n };
    };`);
    await publish(...Array.from({ length: 13 }, (_, n) => ({ n })));
    await until(() => receiver.requests.length >= 8, { what: "the others" });
    const errors = await until(async () => {
      const failing = (await deliveries()).filter((one: { state: string }) => one.state !== "delivered");
      const found = failing.map(
        (one: { last_attempt: { error: string } | null }) => one.last_attempt?.error ?? "",
      );
      return found.length === 5 && found.every(Boolean) && found;
    });
    expect(
      received()
        .map(({ n }) => n)
        .sort((a, b) => a - b),
    ).to.deep.equal([0, 1, 2, 4, 6, 8, 10, 12]);
    const text = errors.join("\n");
    expect(text).to.include(`function: it ran longer than ${LIMITS.functionMs.value} ms`);
    expect(text).to.include("can have at most 524288 bytes");
    expect(text).to.include("it returned a function");
    expect(text).to.include("levels deep");
    for (const error of errors) expect(error).to.match(/^function: /);
    await subscribe("export default event => event;");
    await until(() => receiver.requests.length >= 13, { what: "what had failed" });
  });

  it("goes before an ordered webhook too, which receives all in order", async () => {
    const { id } = await api.expect(201, "POST", "/webhooks", {
      query: { url: receiver.url },
      body: { ordered: true },
    });
    await subscribe("export default event => (event.n % 2 === 0 ? { even: event.n } : null);", id);
    await publish(...Array.from({ length: 6 }, (_, n) => ({ n })));
    await until(() => receiver.requests.length === 3, { what: "three deliveries" });
    expect(received()).to.deep.equal([{ even: 0 }, { even: 2 }, { even: 4 }]);
  });

  it("is stored once, shown to its owner, kept by other changes, and taken away by null", async () => {
    const code = "export default event => event;";
    const created = await subscribe(code);
    expect(created).to.include({ function: code, function_errors: 0 });
    const [listed] = await api.expect(200, "GET", "/users/me/subscriptions");
    expect(listed).to.include({ function_hash: created.function_hash });
    expect(listed).not.to.have.property("function");
    const query = { emitter_id: flow, listener_id: webhook };
    const filtered = await api.expect(200, "POST", "/subscriptions", { query, body: { filter: { n: 1 } } });
    expect(filtered).to.include({ id: created.id, function: code });
    const without = await subscribe(null);
    expect(without).to.have.property("filter");
    expect(without).not.to.have.any.keys("function", "function_hash", "function_errors");
    const stranger = await system.user();
    expect((await stranger.request("GET", `/subscriptions/${created.id}`)).status).to.equal(404);
  });

  it("that can't be used is rejected when it is saved, with its line and column", async () => {
    const rejected = async (code: string, listener_id = webhook) => {
      const { status, body } = await api.request("POST", "/subscriptions", {
        query: { emitter_id: flow, listener_id },
        body: { function: code },
      });
      expect([status, body.errors?.[0].path], body.detail).to.deep.equal([400, "function"]);
      return body.errors[0].message as string;
    };
    expect(await rejected("export default event => {\n  return event.;\n};")).to.match(
      /^line 2, column 16: /,
    );
    expect(await rejected("export default { run() {} };")).to.include("must be a function");
    expect(await rejected("export const transform = event => event;")).to.include("must be a function");
    expect(await rejected("const a = 1;\nthrow new Error('at the top');\nexport default e => e;")).to.equal(
      "at the top (line 2, column 7)",
    );
    expect(await rejected('import x from "lodash";\nexport default x;')).to.match(
      /npm package "lodash".*line 1, column 15/,
    );
    expect(await rejected('import x from "./x.js";\nexport default x;')).to.match(
      /one file.*line 1, column 15/,
    );
    const second = (await api.expect(201, "POST", "/workflows", { body: { name: "Second" } })).id;
    expect(await rejected("export default e => e;", second)).to.include("only deliveries");
    expect(
      await rejected(`export default e => e;//${"é".repeat(LIMITS.functionBytes.value / 2)}`),
    ).to.include("at most 65536 bytes");
    expect(await api.expect(200, "GET", "/users/me/subscriptions")).to.deep.equal([]);
  });

  it("leaves nothing behind when its events are deleted", async () => {
    await subscribe("export default event => ({ secret: event.n });");
    await publish({ n: 1 });
    await until(() => receiver.requests.length === 1);
    const [{ id }] = await until(async () => {
      const found = await deliveries();
      return found[0]?.state === "delivered" && found;
    });
    const stored = () => TransformedPayloads(system.worker.mongo).findById(id).lean();
    expect((await stored())?.body).to.equal('{"secret":1}');
    await deleteRange(system.worker, { emitter_id: flow });
    expect(await stored()).to.equal(null);
  });
});
