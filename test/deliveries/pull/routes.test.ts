import { expect } from "chai";
import { Headwater } from "../../../clients/typescript/src/index.ts";
import { addMember } from "../../../src/accounts/organizations.ts";
import { LIMITS } from "../../../src/limits/catalogue.ts";
import { StoredEvents } from "../../../src/models/event.ts";
import { PulledEvents } from "../../../src/models/pulled-event.ts";
import { Api } from "../../support/api.ts";
import { type System, startSystem } from "../../support/system.ts";
import { until } from "../../support/until.ts";

type User = Api & { userId: string };
interface Event {
  id: string;
  event: unknown;
  cursor: string;
}
interface Pulled {
  events: Event[];
  cursor: string;
  truncated: boolean;
  has_more: boolean;
}

describe("pulling events", () => {
  let system: System;
  let api: User;
  before(async () => {
    system = await startSystem();
    api = await system.user();
  });
  after(() => system?.stop());

  /** A workflow, and what is kept of it. */
  async function subscribed(as: Api = api, body: object = {}) {
    const flow: string = (await as.expect(201, "POST", "/workflows", { body: { name: "Flow" } })).id;
    const { id } = await as.expect(201, "POST", "/destinations", {
      body: { name: "inbox", pull: {}, ...body },
    });
    await as.subscribe(flow, id);
    return { flow, id: id as string };
  }
  const publish = async (flow: string, ...events: unknown[]) =>
    await api.expect(202, "POST", `/workflows/${flow}/events`, {
      body: { events: events.map(event => ({ event })) },
    });
  const ask = (id: string, query: Record<string, string | number> = {}, as: Api = api) =>
    as.request("GET", `/listeners/${id}/events`, { query });
  const pull = async (id: string, query: Record<string, string | number> = {}): Promise<Pulled> =>
    await api.expect(200, "GET", `/listeners/${id}/events`, { query });
  /** Waits until so many events are kept, and stored, which may be a little later. */
  const kept = (id: string, count: number) =>
    until(
      async () => {
        const rows = await PulledEvents(system.worker.mongo).find({ listener_id: id }).lean();
        const young = rows.filter(({ created_at }) => Date.now() - created_at.getTime() < 600_000);
        const ids = new Set(young.flatMap(({ stored }) => (stored ? [stored.emit_id] : [])));
        const there = await StoredEvents(system.worker.mongo).countDocuments({ _id: { $in: [...ids] } });
        return rows.length === count && there === ids.size;
      },
      { what: `${count} kept` },
    );
  const valuesOf = ({ events }: Pulled) => events.map(({ event }) => event);

  it("returns what is kept until its cursor comes back, and then never again", async () => {
    const { flow, id } = await subscribed();
    const empty = await pull(id);
    expect(empty).to.deep.include({ events: [], truncated: false, has_more: false });
    await publish(flow, { n: 1 }, { n: 2 }, { n: 3 });
    await kept(id, 3);
    const first = await pull(id, { limit: 2, after: empty.cursor });
    expect(first).to.include({ truncated: false, has_more: true });
    expect(await pull(id, { limit: 2 }), "not acknowledged").to.deep.equal(first);
    const second = await pull(id, { after: first.cursor });
    expect([...valuesOf(first), ...valuesOf(second)]).to.have.deep.members([{ n: 1 }, { n: 2 }, { n: 3 }]);
    expect(second).to.include({ has_more: false });
    expect(await pull(id), "acknowledged").to.deep.equal(second);
    for (const after of [empty.cursor, first.events[0]?.cursor ?? ""]) {
      expect(await pull(id, { after }), "acknowledged").to.deep.equal(second);
    }
    const shown = await api.expect(200, "GET", `/destinations/${id}`);
    expect(shown).to.include({ kind: "pull", url: `/v1/listeners/${id}/events` });
    expect(shown.pull.waiting).to.equal(1);
    expect(shown.pull.waiting_since).to.be.closeTo(Date.now() / 1000, 60);
    expect(await pull(id, { after: second.cursor })).to.deep.include({ events: [], cursor: second.cursor });
    expect((await api.expect(200, "GET", `/destinations/${id}`)).pull).to.deep.equal({
      waiting: 0,
      waiting_since: null,
    });
  });

  it("waits for an event, and returns none when its time is over", async () => {
    const { flow, id } = await subscribed();
    const waiting = pull(id, { wait: 30 });
    await publish(flow, { n: 1 });
    const startedAt = performance.now();
    const { events, cursor } = await waiting;
    expect(valuesOf({ events } as Pulled)).to.deep.equal([{ n: 1 }]);
    expect(performance.now() - startedAt).to.be.below(20_000);
    expect(await pull(id, { after: cursor, wait: 1 })).to.deep.include({ events: [], cursor });
  });

  it("gives two programs with one cursor the same, and goes on behind what either has acknowledged", async () => {
    const { flow, id } = await subscribed();
    await publish(flow, 1, 2);
    await kept(id, 2);
    const [one, other] = await Promise.all([pull(id), pull(id)]);
    expect(one).to.deep.equal(other);
    const [{ cursor = "" } = {}] = one.events;
    const both = await Promise.all([pull(id, { after: one.cursor }), pull(id, { after: cursor })]);
    const values = both.map(valuesOf);
    expect(values[0]).to.deep.equal([]);
    expect([0, 1], "the later one, or nothing").to.include(values[1]?.length);
    expect((await pull(id, { after: cursor })).events).to.deep.equal([]);
  });

  it("rejects cursors that are not the listener's", async () => {
    const [{ id }, other] = [await subscribed(), await subscribed()];
    await publish(other.flow, 1);
    await kept(other.id, 1);
    const foreign = (await pull(other.id)).cursor;
    const future = Buffer.from(`${id}.1`).toString("base64url");
    for (const after of [foreign, future, "garbage", "a b", "", "x".repeat(300), "%00"]) {
      const { status, body } = await ask(id, { after });
      expect(status, after).to.equal(400);
      expect(body.errors[0]).to.include({ in: "query", path: "after" });
    }
    const tooLong = LIMITS.pullWaitMs.value / 1000 + 1;
    for (const query of [
      { wait: tooLong },
      { wait: -1 },
      { limit: 0 },
      { limit: 101 },
      { before: foreign },
    ]) {
      expect((await ask(id, query as never)).status, JSON.stringify(query)).to.equal(400);
    }
  });

  it("is 404 for another account's listener, and for one of another kind", async () => {
    const { id } = await subscribed();
    expect((await ask(id, {}, await system.user())).status).to.equal(404);
    const { id: webhook } = await api.createWebhook("http://127.0.0.1:1/");
    expect((await ask(webhook)).status).to.equal(404);
    const body = { redis_stream: { url: "redis://127.0.0.1:1", stream: "x" } };
    const { id: stream } = await api.expect(201, "POST", "/destinations", { body });
    expect((await ask(stream)).status).to.equal(404);
  });

  it("shows a viewer what waits, and takes a member, whose key may read only, to acknowledge it", async () => {
    const orgId = await system.organization(api.userId);
    const viewer = await system.user();
    await addMember(system.worker, orgId, viewer.userId, "viewer");
    const query = { org_id: orgId };
    const { id } = await api.expect(201, "POST", "/destinations", { body: { pull: {} }, query });
    await api.expect(200, "POST", `/destinations/${id}/test`);
    const { cursor } = (await ask(id, {}, viewer)).body.data;
    expect((await ask(id, { after: cursor }, viewer)).status).to.equal(403);
    expect((await pull(id)).events).to.have.length(1);
    const { api_key } = await api.expect(201, "POST", "/api_keys", { body: { access: "read" } });
    expect((await ask(id, { after: cursor }, new Api(api.baseUrl, api_key))).status).to.equal(200);
    expect((await pull(id)).events).to.have.length(0);
    const waiting = ask(id, { wait: 2 }, viewer);
    await until(async () => (await ask(id, {}, viewer)).status === 200);
    await api.expect(204, "DELETE", `/orgs/${orgId}/members/${viewer.userId}`);
    expect((await waiting).status, "who is a member no more").to.equal(404);
  });

  it("shows nothing of an account that was left since", async () => {
    const owner = await system.user();
    const orgId = await system.organization(owner.userId);
    const member = await system.user();
    await addMember(system.worker, orgId, member.userId);
    const query = { org_id: orgId };
    const flow: string = (await owner.expect(201, "POST", "/workflows", { body: { name: "Flow" }, query }))
      .id;
    const { id } = await member.expect(201, "POST", "/destinations", { body: { pull: {} } });
    await member.subscribe(flow, id);
    await owner.expect(202, "POST", `/workflows/${flow}/events`, { body: { event: "secret" } });
    await kept(id, 1);
    expect((await ask(id, {}, member)).body.data.events).to.have.length(1);
    await owner.expect(204, "DELETE", `/orgs/${orgId}/members/${member.userId}`);
    const { status, text, body } = await ask(id, {}, member);
    expect(status).to.equal(200);
    expect(text).not.to.include("secret");
    expect(body.data).to.deep.include({ events: [], truncated: true });
  });

  it("says that something is gone, and goes on behind it", async () => {
    const { flow, id } = await subscribed();
    const { cursor } = await pull(id);
    await publish(flow, 1, 2, 3);
    await kept(id, 3);
    // As MongoDB does after 30 days.
    await PulledEvents(system.worker.mongo).deleteOne({ listener_id: id, position: 1 });
    const [, last] = (await pull(id)).events;
    const deleted = await PulledEvents(system.worker.mongo).findOne({ listener_id: id, position: 2 }).lean();
    await StoredEvents(system.worker.mongo).deleteOne({ _id: deleted?.stored?.emit_id ?? "" });
    expect(await pull(id), "may be on its way").to.deep.include({ events: [], has_more: true });
    const created_at = new Date(Date.now() - 3_600_000);
    await PulledEvents(system.worker.mongo).updateOne(
      { listener_id: id, position: 2 },
      { $set: { created_at } },
    );
    const pulled = await pull(id, { after: cursor });
    expect(pulled).to.deep.include({ events: [last], truncated: true });
    await publish(flow, 4);
    await kept(id, 3);
    expect(await pull(id, { after: pulled.cursor })).to.deep.include({ truncated: false });
    await PulledEvents(system.worker.mongo).deleteMany({ listener_id: id });
    const nothing = await pull(id, { after: pulled.cursor, wait: 30 });
    expect(nothing).to.deep.include({ events: [], truncated: true, has_more: false });
    expect(await pull(id, { after: nothing.cursor })).to.include({ truncated: false });
  });

  it("keeps again what is retried by hand, under the same id", async () => {
    const { flow, id } = await subscribed();
    await publish(flow, { n: 1 });
    await kept(id, 1);
    const { events, cursor } = await pull(id);
    await pull(id, { after: cursor });
    const delivery = await until(async () => {
      const [row] = await api.expect(200, "GET", `/destinations/${id}/deliveries`);
      return row?.state === "delivered" && row;
    });
    expect(delivery).to.deep.include({ id: events[0]?.id, attempts_made: 1 });
    expect((await api.request("POST", `/deliveries/${delivery.id}/retry`)).status).to.be.below(300);
    const again = await pull(id, { wait: 30 });
    expect(again.events.map(one => [one.id, one.event])).to.deep.equal([[events[0]?.id, { n: 1 }]]);
  });

  it("gives what the subscription's function makes of an event, and nothing of what it drops", async () => {
    const { flow, id } = await subscribed();
    const code = "export default n => (n > 1 ? { doubled: n * 2 } : null);";
    const query = { emitter_id: flow, listener_id: id };
    await api.expect(200, "POST", "/subscriptions", { query, body: { function: code } });
    await publish(flow, 1, 2);
    expect(valuesOf(await pull(id, { wait: 30 }))).to.deep.equal([{ doubled: 4 }]);
  });

  it("returns as many as fit a response, and at least one", async () => {
    const { flow, id } = await subscribed();
    const text = "x".repeat(400_000);
    const count = 12;
    for (let n = 0; n < count; n += 1) await publish(flow, { n, text });
    await kept(id, count);
    const seen: number[] = [];
    for (let after: string | undefined; seen.length < count; ) {
      const { events, cursor, has_more } = await pull(id, after === undefined ? {} : { after });
      expect(events.length).to.be.within(1, LIMITS.pulledBytes.value / 400_000);
      seen.push(...events.map(({ event }) => (event as { n: number }).n));
      expect(has_more).to.equal(seen.length < count);
      after = cursor;
    }
    expect(seen.toSorted((a, b) => a - b)).to.deep.equal(Array.from({ length: count }, (_, n) => n));
  });

  it("has no more waiting requests of an account than it may", async () => {
    const owner = await system.user();
    const { id } = await subscribed(owner);
    const [most, more] = [LIMITS.pullsWaiting.value, 2];
    const leave = new AbortController();
    const url = `${owner.baseUrl}/listeners/${id}/events?wait=30`;
    const rejected: number[] = [];
    const waiting = Array.from({ length: most + more }, () =>
      fetch(url, { headers: { authorization: `Bearer ${owner.apiKey}` }, signal: leave.signal }).then(
        ({ status }) => rejected.push(status),
        () => null,
      ),
    );
    await until(() => rejected.length === more, { what: "the bound" });
    expect(rejected).to.deep.equal(Array(more).fill(429));
    expect((await ask(id, {}, owner)).status, "who does not wait").to.equal(200);
    leave.abort();
    await Promise.all(waiting);
    await until(async () => (await ask(id, { wait: 1 }, owner)).status === 200, { what: "that they left" });
  });

  describe("by the client", () => {
    const client = () => new Headwater({ url: system.baseUrl, apiKey: api.apiKey });

    it("yields each event, also those that come later, and acknowledges by going on", async () => {
      const { flow, id } = await subscribed(api, { ordered: true });
      await publish(flow, 1, 2);
      const seen: unknown[] = [];
      for await (const { event } of client().listeners.pull(id, { limit: 1 })) {
        seen.push(event);
        if (seen.length === 2) await publish(flow, 3);
        if (seen.length === 3) break;
      }
      expect(seen).to.deep.equal([1, 2, 3]);
      const again: unknown[] = [];
      for await (const { event } of client().listeners.pull(id, { wait: 0 })) again.push(event);
      expect(again, "left before it was acknowledged").to.deep.equal([3]);
      for await (const { event } of client().listeners.pull(id, { wait: 0 })) again.push(event);
      expect(again).to.deep.equal([3]);
    });

    it("ends when it is told to, and throws for a listener that is not there", async () => {
      const { id } = await subscribed();
      const stop = new AbortController();
      const loop = client().listeners.pull(id, { signal: stop.signal }).next();
      await until(async () => (await ask(id)).status === 200);
      stop.abort();
      expect((await loop).done).to.equal(true);
      const absent = await client()
        .listeners.pull("ds_0000000000000000")
        .next()
        .catch(error => error);
      expect(absent).to.include({ name: "NotFoundError", status: 404 });
    });
  });
});
