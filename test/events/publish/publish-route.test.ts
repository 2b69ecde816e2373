import { gzipSync } from "node:zlib";
import { expect } from "chai";
import { createApiKey, revokeApiKey } from "../../../src/accounts/api-keys.ts";
import { compileCheck } from "../../../src/http/validate.ts";
import { openedQueue } from "../../../src/queues/define-queue.ts";
import { EmissionsJob, emissions, emissionsIn } from "../../../src/queues/emissions.ts";
import { countEmissionBytes, readEmissionBytes } from "../../../src/store/limits/waiting-bytes.ts";
import { Api, type Problem } from "../../support/api.ts";
import { type System, startSystem } from "../../support/system.ts";
import { until } from "../../support/until.ts";

type User = Api & { userId: string };

const payloadFaults = compileCheck(EmissionsJob, "job");

/** docs/rest-api.md#publish; what becomes of the events is in test/flows/publish.test.ts. */
describe("events published over HTTP", () => {
  let system: System;
  let api: User;
  let workflow: string;

  before(async () => {
    system = await startSystem({ FREE_LIMITS: "emission_bytes=100000" }, { workers: false });
  });
  after(() => system.stop());
  beforeEach(async () => {
    api = await system.user();
    workflow = (await api.expect(201, "POST", "/workflows", { body: { name: "Flow" } })).id;
    await openedQueue(system.worker.queues, emissions).obliterate({ force: true });
  });

  // biome-ignore lint/suspicious/noExplicitAny: emit ids, or a problem
  const publish = (body: unknown, by: Api = api, path = `/workflows/${workflow}/events`): Promise<any> =>
    by.request<Problem>("POST", path, { body });
  /** What the queue holds, in the order in which jobs were added. */
  const queued = async () => {
    const jobs = await openedQueue(system.worker.queues, emissions).getJobs(
      ["waiting", "prioritized"],
      0,
      -1,
      true,
    );
    return jobs.map(job => job.data as EmissionsJob);
  };
  const queuedEmissions = async () => (await queued()).flatMap(emissionsIn);

  it("are on the queue when the response is sent: one event with all its fields", async () => {
    const body = { event: { n: 1 }, name: "orders", id: "order-1", ts: 1_700_000_000_000 };
    const response = await publish(body);
    expect([response.status, response.body]).to.deep.equal([202, { data: { emit_ids: ["order-1"] } }]);
    const [job, ...others] = await queued();
    expect(others).to.deep.equal([]);
    expect(job).to.deep.include({
      emitter_id: workflow,
      emit_id: "order-1",
      event: { n: 1 },
      name: "orders",
      ts: 1_700_000_000_000,
      account_id: api.userId,
    });
  });

  it("get an emit id each without an id, and any JSON value is an event", async () => {
    const values = [null, 0, "text", [1], { a: 1 }];
    const response = await publish({ events: values.map(event => ({ event })) });
    expect(response.status).to.equal(202);
    const found = await queuedEmissions();
    expect(found.map(({ event }) => event)).to.deep.equal(values);
    expect(found.map(({ emit_id }) => emit_id)).to.deep.equal(response.body.data.emit_ids);
    expect(new Set(response.body.data.emit_ids)).to.have.property("size", 5);
  });

  it("are accepted 1,000 at once in few jobs, with positions that keep their order", async () => {
    const events = Array.from({ length: 1000 }, (_, n) => ({ event: { n }, id: `n-${n}` }));
    const response = await publish({ events });
    expect(response.body.data.emit_ids).to.deep.equal(events.map(({ id }) => id));
    const jobs = await queued();
    expect(jobs).to.have.length(5);
    const problems = jobs.flatMap(job => payloadFaults(job));
    expect(problems, "what a worker would reject").to.deep.equal([]);
    const found = jobs.flatMap(emissionsIn).sort((a, b) => (a.score ?? 0) - (b.score ?? 0));
    expect(found.map(({ event }) => event)).to.deep.equal(events.map(({ event }) => event));
    expect(new Set(found.map(({ score }) => score)).size).to.equal(1000);
  });

  it("are all rejected if one of them is invalid, and the field is named", async () => {
    const good = { event: 1 };
    const cases: [unknown, string][] = [
      [{}, "event"],
      [{ events: [] }, "events"],
      [{ events: [good], event: 1 }, "event"],
      [{ events: [good], name: "a" }, "name"],
      [{ events: Array(1001).fill(good) }, "events"],
      [{ events: [good, good, good, { event: 1, id: "" }] }, "events.3.id"],
      [{ events: [good, { event: 1, id: "with space" }] }, "events.1.id"],
      [{ events: [good, { event: 1, id: "run_0CjBBq6Av9MsU2zJ-0" }] }, "events.1.id"],
      [{ events: [good, { name: "a" }] }, "events.1.event"],
      [{ events: [good, { event: 1, nmae: "a" }] }, "events.1.nmae"],
      [{ events: [good, { event: 1, name: "$mine" }] }, "events.1.name"],
      [{ events: [good, { event: 1, ts: "yesterday" }] }, "events.1.ts"],
      [{ events: [good, 7] }, "events.1"],
      [{ events: [good, { event: "x".repeat(512 * 1024) }] }, "events.1.event"],
      [{ events: [good, { event: Array(50_000).fill([]) }] }, "events.1.event"],
      [{ event: "x".repeat(512 * 1024) }, "event"],
    ];
    for (const [body, path] of cases) {
      const response = await publish(body);
      expect(response.status, `${path}: ${response.text.slice(0, 200)}`).to.equal(400);
      expect(response.body.errors?.[0], path).to.include({ in: "body", path });
    }
    expect(await queued()).to.deep.equal([]);
  });

  it("may have 5 MB, compressed or not, and no more", async () => {
    const rich = Object.assign(await system.user({ plan: "paid" }));
    const { id } = await rich.expect(201, "POST", "/workflows", { body: { name: "Flow" } });
    const of = (count: number) => ({ events: Array(count).fill({ event: "x".repeat(500_000) }) });
    const path = `/workflows/${id}/events`;
    expect((await publish(of(10), rich, path)).status).to.equal(202);
    expect(await queued()).to.have.length(10);
    expect((await publish(of(11), rich, path)).status).to.equal(413);
    const response = await fetch(`${rich.baseUrl}${path}`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${rich.apiKey}`,
        "content-type": "application/json",
        "content-encoding": "gzip",
      },
      body: gzipSync(JSON.stringify(of(11))),
    });
    expect(response.status).to.equal(413);
    expect(await queued()).to.have.length(10);
  });

  it("are accepted for the caller's sources too, by id and by slug, and for those of its organizations", async () => {
    const source = await api.createSource({
      component_code: 'export default { name: "Quiet", version: "0.0.1", props: {}, run() {} };',
    });
    for (const name of [source.id, source.name_slug]) {
      expect((await publish({ event: name }, api, `/sources/${name}/events`)).status).to.equal(202);
    }
    const orgId = await system.organization(api.userId);
    const shared = await api.expect(201, "POST", "/workflows", {
      body: { name: "Shared" },
      query: { org_id: orgId },
    });
    expect((await publish({ event: 1 }, api, `/workflows/${shared.id}/events`)).status).to.equal(202);
    const found = await queued();
    expect(found.map(job => job.account_id)).to.deep.equal([api.userId, api.userId, orgId]);
  });

  it("are 404 for another account, an absent workflow, a deleted one and a deleted source", async () => {
    const other = await system.user();
    expect((await publish({ event: 1 }, other)).status).to.equal(404);
    expect((await publish({ event: 1 }, api, "/workflows/p_0000000000000000/events")).status).to.equal(404);
    const { id } = await api.createSource({
      component_code: 'export default { name: "Gone", version: "0.0.1", props: {}, run() {} };',
    });
    expect((await publish({ event: 1 }, api, `/sources/${id}/events`)).status).to.equal(202);
    await api.expect(204, "DELETE", `/sources/${id}`);
    expect((await publish({ event: 1 }, api, `/sources/${id}/events`)).status).to.equal(404);
    expect((await publish({ event: 1 })).status).to.equal(202);
    await api.expect(204, "DELETE", `/workflows/${workflow}`);
    expect((await publish({ event: 1 })).status).to.equal(404);
  });

  it("are rejected as soon as the key is revoked, although callers are cached", async () => {
    const key = await createApiKey(system.worker, api.userId);
    const second = new Api(api.baseUrl, key.api_key);
    expect((await publish({ event: 1 }, second)).status).to.equal(202);
    await revokeApiKey(system.worker, key.id);
    expect((await publish({ event: 1 }, second)).status).to.equal(401);
  });

  it("are rejected while the account's bytes on the queue are used up, and accepted again afterwards", async () => {
    const event = "x".repeat(30_000);
    const statuses: number[] = [];
    for (let i = 0; i < 5; i++) statuses.push((await publish({ event })).status);
    expect(statuses).to.deep.equal([202, 202, 202, 202, 429]);
    const response = await publish({ event: 1 });
    expect(response.body.type).to.equal("/docs/errors#rate-limited");
    expect(Number(response.headers.get("retry-after"))).to.be.at.least(1);
    expect((await publish({ event: 1 }, await system.user())).status, "another account").to.equal(404);
    const waiting = await readEmissionBytes(system.worker, api.userId);
    const counted = (await queued()).reduce((sum, job) => sum + (job.counted?.[1] ?? 0), 0);
    expect(counted).to.equal(waiting).and.to.be.above(100_000);
    await countEmissionBytes(system.worker, api.userId, -waiting);
    await until(async () => (await publish({ event: 1 })).status === 202, { what: "accepted again" });
  });

  it("count small events too, in steps", async () => {
    for (let i = 0; i < 9; i++) await publish({ event: "x".repeat(1000) });
    expect(await readEmissionBytes(system.worker, api.userId)).to.be.within(8 * 1024, 10 * 1024);
  });
});

describe("events published over HTTP", () => {
  it("are not counted against the limit of requests, which holds for others of the same key", async () => {
    const system = await startSystem({ RATE_LIMITS: "api:1" }, { workers: false });
    try {
      const api = await system.user();
      const { id } = await api.expect(201, "POST", "/workflows", { body: { name: "Flow" } });
      const publish = (_: unknown, n: number) =>
        api.request("POST", `/workflows/${id}/events`, { body: { event: n } });
      const burst = await Promise.all(Array.from({ length: 300 }, publish));
      expect(burst.filter(({ status }) => status !== 202)).to.deep.equal([]);
      const read = () => api.request("GET", `/workflows/${id}`);
      const others = await Promise.all(Array.from({ length: 6 }, read));
      const rejected = others.find(({ status }) => status === 429);
      expect(Number(rejected?.headers.get("retry-after"))).to.be.at.least(1);
    } finally {
      await system.stop();
    }
  });
});
