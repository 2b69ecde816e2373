import { expect } from "chai";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { archiveEvents } from "../../src/store/events/event-archive.ts";
import type { Api } from "../support/api.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";

const CODE = `export default { name: "Silent", version: "0.0.1", props: { http: "$.interface.http" },
  run({ body }) { if (body.n === "error") throw new Error("no"); this.$emit(body); } };`;
const KEPT = LIMITS.eventsKept.value;
const PAGE = 30;

describe("a source that has been silent for a day", () => {
  let system: System;
  let api: Api & { userId: string };
  let id: string;
  let endpoint: string;
  before(async () => {
    system = await startSystem();
    api = await system.user({ plan: "paid" });
    const source = await api.createSource({ component_code: CODE });
    id = source.id;
    endpoint = source.configured_props.http?.endpoint_url ?? "";
  });
  after(() => system?.stop());

  const publish = (numbers: number[]) =>
    api.expect(202, "POST", `/sources/${id}/events`, {
      body: { events: numbers.map(n => ({ event: { n } })) },
    });
  const newest = async () => (await api.summaries(id))[0]?.event.raw_event.n;

  /** All pages, first to last and back, of a list of the source's. */
  async function pages(stream: string): Promise<unknown[]> {
    const path = `/sources/${id}${stream}/event_summaries`;
    const read: unknown[] = [];
    for (const direction of ["after", "before"] as const) {
      let cursor: string | null | undefined;
      do {
        const query = { limit: PAGE, expand: "event", ...(cursor && { [direction]: cursor }) };
        const { status, body } = await api.request("GET", path, { query });
        read.push([status, body]);
        cursor = direction === "after" ? body.page_info.end_cursor : body.page_info.start_cursor;
      } while (cursor);
    }
    return read;
  }
  /** The ids that a stream sends again behind this one. */
  async function streamedAfter(eventId: string, count: number): Promise<string[]> {
    const stop = new AbortController();
    const headers = { authorization: `Bearer ${api.apiKey}`, "last-event-id": eventId };
    const response = await fetch(`${system.baseUrl}/sources/${id}/sse`, { headers, signal: stop.signal });
    let text = "";
    const idsIn = () => [...text.matchAll(/^id: (.+)$/gm)].map(([, one = ""]) => one);
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk).toString();
      if (idsIn().length >= count) break;
    }
    stop.abort();
    return idsIn();
  }

  it("keeps nothing in Redis, and the API shows its last events as before, until it emits again", async () => {
    await fetch(endpoint, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"n":"error"}',
    });
    await until(async () => (await api.summaries(id, { stream: "$errors" })).length === 1, {
      what: "an error",
    });
    await publish(Array.from({ length: KEPT + 20 }, (_, n) => n));
    await until(async () => (await newest()) === KEPT + 19, { what: "all events" });
    const ids = (await api.summaries(id, { query: { limit: 100 } })).map(one => one.id);
    expect(ids).to.have.length(KEPT);
    const [oldest = "", third = ""] = [ids.at(-1), ids[3]];
    const shown = async () => ({
      lists: await Promise.all(["", "/$errors", "/$logs"].map(pages)),
      event: await api
        .request("GET", `/events/${oldest}`, { query: { emitter_id: id } })
        .then(({ body }) => body),
      source: await api.expect(200, "GET", `/sources/${id}`),
      streamed: await streamedAfter(third, 3),
    });
    const before = await shown();
    expect(before.streamed).to.deep.equal(ids.slice(0, 3).reverse());

    const { worker } = system;
    await until(async () => (await archiveEvents(worker, [id], 0)).includes(id), { what: "the archive" });
    const place = worker.keys.eventIds(id, "emits");
    expect(await worker.redis.exists(place), "in Redis").to.equal(0);
    expect(await shown()).to.deep.equal(before);
    expect(await worker.redis.exists(place), "after it was read").to.equal(0);

    await publish([-1]);
    await until(async () => (await newest()) === -1, { what: "the next event" });
    const after = (await api.summaries(id, { query: { limit: 100 } })).map(one => one.id);
    expect(after.slice(1)).to.deep.equal(ids.slice(0, -1));
  });
});
