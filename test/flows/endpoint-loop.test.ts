import { expect } from "chai";
import { LIMITS } from "../../src/limits/catalogue.ts";
import type { Api } from "../support/api.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";

/** Emits what arrives at its endpoint. */
const ECHO = `export default {
  name: "Echo", version: "0.0.1", props: { http: "$.interface.http" },
  run({ body }) { this.$emit(body); },
};`;

/** What a delivery does on its way, each another place where the count must be kept. */
const WAYS: [string, { settings?: object; body?: object; hops?: number }][] = [
  ["whose first attempts carry the event", {}],
  ["whose events are too large for the job of their first attempts", { body: { text: "x".repeat(20_000) } }],
  ["to ordered webhooks", { settings: { ordered: true }, hops: 14 }],
];

describe("a webhook whose URL is an endpoint of the same installation", () => {
  let system: System;
  let api: Api;
  before(async () => {
    system = await startSystem();
  });
  beforeEach(async () => {
    api = await system.user();
  });
  after(() => system.stop());

  interface Echo {
    id: string;
    url: string;
  }
  async function echo(): Promise<Echo> {
    const { id, configured_props } = await api.createSource({ component_code: ECHO });
    return { id, url: configured_props.http?.endpoint_url ?? "" };
  }
  /** Sends a source's events to the endpoint of another. */
  async function connect(from: Echo, to: Echo, settings: object = {}) {
    const { id } = await api.expect(201, "POST", "/webhooks", { body: { url: to.url, ...settings } });
    await api.subscribe(from.id, id);
  }
  const post = (url: string, body: object, headers: Record<string, string> = {}) =>
    fetch(url, {
      method: "POST",
      body: JSON.stringify(body),
      headers: { "content-type": "application/json", ...headers },
    });
  const looped = async (id: string): Promise<number> =>
    (await api.expect(200, "GET", `/sources/${id}`)).dropped.loop ?? 0;
  const runs = async (id: string): Promise<number> =>
    (await api.expect(200, "GET", `/sources/${id}/runs`, { query: { limit: "100" } })).length;

  for (const [name, { settings, body = { n: 1 }, hops = 0 }] of WAYS) {
    it(`ends a loop of deliveries ${name}, and counts it`, async () => {
      const source = await echo();
      await connect(source, source, settings);
      expect((await post(source.url, body, { "x-headwater-hops": String(hops) })).ok).to.equal(true);
      await until(async () => (await looped(source.id)) === 1);
      await until(async () => (await runs(source.id)) === LIMITS.hops.value + 2 - hops);
    });
  }

  it("ends a loop of several sources that listen to each other by webhooks and by subscriptions @long", async () => {
    const [first, second] = [await echo(), await echo()];
    await connect(first, second);
    await connect(second, first);
    await post(first.url, { n: 1 });
    await until(async () => (await looped(first.id)) + (await looped(second.id)) === 1);
    await until(async () => (await runs(first.id)) + (await runs(second.id)) === LIMITS.hops.value + 2);
  });

  it("ends a loop of deliveries that publish, too", async () => {
    const { id } = await echo();
    const url = `${system.baseUrl}/sources/${id}/events`;
    const headers = { authorization: `Bearer ${api.apiKey}` };
    const webhook = await api.expect(201, "POST", "/webhooks", { body: { url, headers } });
    await api.expect(200, "POST", "/subscriptions", {
      query: { emitter_id: id, listener_id: webhook.id },
      body: { function: "export default event => (event.n ? { event: event.n } : null);" },
    });
    expect((await post(url, { event: { n: { n: 1 } } }, headers)).status).to.equal(202);
    await until(async () => (await api.summaries(id)).length === 3);
    const last = { ...headers, "x-headwater-hops": String(LIMITS.hops.value + 1) };
    expect((await post(url, { event: { n: 1 } }, last)).status).to.equal(202);
    await until(async () => (await looped(id)) === 1);
    expect(await api.summaries(id)).to.have.length(4);
  });

  it("takes the number from the request, and ignores what is none @long", async () => {
    const source = await echo();
    const other = await echo();
    await connect(source, other);
    for (const hops of ["0", "-1", "1e3", "99999", "x", ""]) {
      expect((await post(source.url, { n: 1 }, { "x-headwater-hops": hops })).ok, hops).to.equal(true);
    }
    await until(async () => (await runs(other.id)) === 6);
    expect(await looped(source.id)).to.equal(0);
    await post(source.url, { n: 2 }, { "x-headwater-hops": "17" });
    await until(async () => (await looped(source.id)) === 1);
    expect(await runs(other.id)).to.equal(6);
  });
});
