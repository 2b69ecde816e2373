import { expect } from "chai";
import { JsonText } from "../../src/lib/json-text.ts";
import { openedQueue } from "../../src/queues/define-queue.ts";
import { workflowEvents } from "../../src/queues/workflow-events.ts";
import type { Api } from "../support/api.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";

/** Texts that are no longer the same once they are parsed and written again. */
const TEXTS = [
  "7615917337495251231",
  "-0",
  "1.0",
  "1e400",
  "[1E5,0.10,-0.0]",
  '{"id":7615917337495251231,"b":1,"a":2,"1":3}',
  '{"a":1,"a":7615917337495251231}',
  '{ "spaced" : [ 1.50, 2 ] }',
  '"\\u00e9\\/"',
];
const LONG = `{"id":7615917337495251231,"n":1e400,"zero":-0,"text":"${"x".repeat(3000)}","z":1,"1":1.0}`;

/** docs/rest-api.md#publish */
describe("the text of a published event", () => {
  let system: System;
  let api: Api;
  let workflow: string;
  let receiver: Receiver;

  before(async () => {
    system = await startSystem();
  });
  beforeEach(async () => {
    receiver = await startReceiver();
    api = await system.user();
    workflow = (await api.expect(201, "POST", "/workflows", { body: { name: "Flow" } })).id;
    await api.subscribe(workflow, (await api.createWebhook(receiver.url)).id);
  });
  afterEach(() => receiver.close());
  after(() => system.stop());

  const publish = (body: unknown, to = workflow) =>
    api.expect(202, "POST", `/workflows/${to}/events`, { body });
  const eventsOf = (texts: string[]) => ({
    events: texts.map((text, n) => ({ event: new JsonText(text), id: `n-${n}` })),
  });
  const received = async (count: number) => {
    await until(() => receiver.requests.length >= count, { what: `${count} deliveries` });
    return receiver.requests.map(({ raw }) => raw);
  };
  const summaries = async (query = {}) => {
    const { text, body } = await api.request("GET", `/workflows/${workflow}/event_summaries`, { query });
    expect(body.data).to.be.an("array");
    return text;
  };
  const trace = async (id: string) => {
    const query = { emitter_id: workflow, expand: "event" };
    return (await api.request("GET", `/events/${id}`, { query })).text;
  };

  it("is what a webhook receives, and what every list and every read of the event shows", async () => {
    await publish(eventsOf(TEXTS));
    await publish({ event: new JsonText(TEXTS[0] ?? ""), id: "alone" });
    expect((await received(TEXTS.length + 1)).sort()).to.deep.equal([...TEXTS, TEXTS[0]].sort());
    const listed = await summaries();
    for (const [n, text] of TEXTS.entries()) {
      expect(listed).to.include(`"event":{"raw_event":${text}},"metadata":{"emit_id":"n-${n}"`);
      expect(await trace(`n-${n}`)).to.include(`"payload":"stored","event":${text},`);
    }
    const [delivery] = await api.expect(200, "GET", "/deliveries", { query: { emitter_id: workflow } });
    const { text: detail } = await api.request("GET", `/deliveries/${delivery.id}`, {
      query: { expand: "event" },
    });
    expect(TEXTS.filter(text => detail.includes(`"event":${text}`))).to.have.length.of.at.least(1);
  });

  it("is received with each retry and each replay as it was the first time", async () => {
    const text = TEXTS[5] ?? "";
    await publish({ event: new JsonText(text), id: "again" });
    await received(1);
    const query = { emitter_id: workflow };
    // An event whose first attempt is not recorded yet is on its way already.
    await until(async () => (await api.expect(200, "GET", "/deliveries", { query })).length === 1);
    await api.expect(202, "POST", "/events/again/replay", { query });
    expect(await received(2)).to.deep.equal([text, text]);
    const [delivery] = await api.expect(200, "GET", "/deliveries", { query });
    await until(
      async () => (await api.expect(200, "GET", `/deliveries/${delivery.id}`)).attempts.length === 2,
    );
    await api.expect(202, "POST", `/deliveries/${delivery.id}/retry`);
    expect(await received(3)).to.deep.equal([text, text, text]);
  });

  it("is cut for a summary where it is long, and what is left of it is as it was", async () => {
    await publish({ event: new JsonText(LONG), id: "long" });
    expect(await received(1)).to.deep.equal([LONG]);
    expect(await summaries()).to.match(
      /\{"raw_event":\{"id":7615917337495251231,"n":1e400,"zero":-0,"text":"x+…","z":1,"1":1\.0\}\}/,
    );
    expect(await summaries({ expand: "event" })).to.include(`{"raw_event":${LONG}}`);
    expect(await trace("long")).to.include(`"event":${LONG}`);
  });

  it("has its line breaks in a request, and none in a stream of events or a summary", async () => {
    const pretty = JSON.stringify({ a: [1, { b: "\n" }] }, null, 2).replaceAll("\n", "\r\n");
    const controller = new AbortController();
    const response = await fetch(`${api.baseUrl}/live?emitters=${workflow}`, {
      headers: { authorization: `Bearer ${api.apiKey}` },
      signal: controller.signal,
    });
    let streamed = "";
    const reading = (async () => {
      for await (const chunk of response.body ?? []) streamed += Buffer.from(chunk).toString();
    })().catch(() => undefined);
    await until(() => streamed.includes("event: ready"), { what: "the stream" });
    await publish({ event: new JsonText(pretty), id: "pretty" });
    await publish({ event: new JsonText("7615917337495251231") });
    expect(await received(2)).to.include(pretty);
    await until(() => streamed.includes("7615917337495251231"), { what: "the events" });
    controller.abort();
    await reading;
    const lines = streamed
      .split("\n")
      .filter(line => line.startsWith("data: {") && line.includes("raw_event"));
    expect(lines.map(line => JSON.parse(line.slice(6)).event.raw_event)).to.deep.equal([
      JSON.parse(pretty),
      Number("7615917337495251231"),
    ]);
    expect(await summaries()).not.to.match(/[\r\n]/);
    // The event is stored a moment after its first attempt.
    await until(async () => (await trace("pretty")).includes(pretty), { what: "the text" });
  });

  it("is in the job of a workflow engine", async () => {
    const other = (await api.expect(201, "POST", "/workflows", { body: { name: "Other" } })).id;
    await api.subscribe(workflow, other);
    await publish(eventsOf(TEXTS));
    await received(TEXTS.length);
    const queue = openedQueue(system.worker.queues, workflowEvents);
    const jobs = await until(async () => {
      const found = await queue.getJobs(["waiting"], 0, -1, true);
      return found.length === TEXTS.length && found;
    });
    const data = await Promise.all(
      jobs.map(job => system.worker.redis.hget(queue.toKey(job.id ?? ""), "data")),
    );
    for (const text of TEXTS) expect(data.join("\n")).to.include(`"event":${text},"hops":1`);
  });

  it("is parsed for a filter, which sees a number as JavaScript does", async () => {
    const filtered = await startReceiver();
    try {
      const webhook = await api.createWebhook(filtered.url);
      const subscription = { emitter_id: workflow, listener_id: webhook.id, filter: { big: { $gt: 1e18 } } };
      await api.expect(200, "POST", "/subscriptions", { body: subscription });
      await publish({ event: new JsonText('{"big":  7615917337495251231}') });
      await publish({ event: new JsonText('{"big":  1.0}') });
      await received(2);
      await until(() => filtered.requests.length > 0, { what: "the event that matches" });
      expect(filtered.requests.map(({ raw }) => raw)).to.deep.equal(['{"big":  7615917337495251231}']);
    } finally {
      await filtered.close();
    }
  });

  it("is the same whatever is done for each number in the body of the request", async () => {
    await publish(
      new JsonText(
        '{"events" : [ {"event": 1, "id":"a", "event": 1.00} , {"\\u0065vent":-0}],"events":[{"event":[ ]}] }',
      ),
    );
    expect(await received(1)).to.deep.equal(["[ ]"]);
    await publish(new JsonText('{"event":{"event":1e0,"events":[{"event":2}]},"name":""}'));
    expect((await received(2))[1]).to.equal('{"event":1e0,"events":[{"event":2}]}');
  });

  for (const id of [
    "1-0",
    "1700000000000-7",
    "dlv_x",
    "dlv_0CjBBm3Xs6JpR9wF",
    "a/b?c#d%2Fe",
    "$errors",
    "emit_x",
    "...",
  ]) {
    it(`is found by the id ${id}`, async () => {
      await publish({ event: new JsonText("1.0"), id });
      await received(1);
      expect(await trace(encodeURIComponent(id))).to.include(`"emit_id":${JSON.stringify(id)}`);
    });
  }

  it("is found by an id of ours for as long as it is listed", async () => {
    const quiet = (await api.expect(201, "POST", "/workflows", { body: { name: "Quiet" } })).id;
    const { emit_ids } = await publish({ event: new JsonText("1.0") }, quiet);
    const find = () => api.request("GET", `/events/${emit_ids[0]}`, { query: { emitter_id: quiet } });
    await until(async () => (await find()).status === 200);
    const { redis, keys } = system.worker;
    await redis.del(keys.seenEmits(quiet), keys.recentEmits(quiet));
    expect((await find()).body.data).to.include({ emit_id: emit_ids[0], payload: "in-summary" });
  });
});
