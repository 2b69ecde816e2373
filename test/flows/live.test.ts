import { expect } from "chai";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";

const CODE = `export default { name: "Live", version: "0.0.1", props: { http: "$.interface.http" },
  run(event) { this.$emit({ n: event.query.n }); } };`;

describe("watching a source live", () => {
  let system: System;
  before(async () => {
    system = await startSystem();
  });
  after(() => system.stop());

  /** Opens the stream; `text` grows with each chunk that arrives. */
  async function watch(url: string, headers: Record<string, string>) {
    const stop = new AbortController();
    const response = await fetch(url, { headers, signal: stop.signal });
    const stream = {
      text: "",
      status: response.status,
      type: response.headers.get("content-type"),
      stop: () => stop.abort(),
    };
    const read = async () => {
      const decoder = new TextDecoder();
      for await (const chunk of response.body ?? []) stream.text += decoder.decode(chunk as Uint8Array);
    };
    read().catch(() => undefined);
    return stream;
  }
  const numbers = (text: string) =>
    [...text.matchAll(/"raw_event":\{"n":"(\d+)"\}/g)].map(match => Number(match[1]));

  it("streams events as they happen, and resumes after Last-Event-ID without a lost or repeated one", async () => {
    const api = await system.user();
    const source = await api.createSource({ component_code: CODE });
    const endpoint = source.configured_props.http?.endpoint_url ?? "";
    const url = `${system.baseUrl}/sources/${source.id}/sse`;
    const headers = { authorization: `Bearer ${api.apiKey}` };

    const first = await watch(url, headers);
    expect(first.status).to.equal(200);
    expect(first.type).to.match(/^text\/event-stream/);
    await until(() => first.text.includes("watching"));
    await fetch(`${endpoint}?n=1`);
    await until(() => first.text.includes("event: emit"));
    const lastId = /^id: (.+)$/m.exec(first.text)?.[1] ?? "";
    first.stop();

    await fetch(`${endpoint}?n=2`);
    await until(async () => (await api.summaries(source.id)).length === 2);
    const second = await watch(url, { ...headers, "last-event-id": lastId });
    await until(() => numbers(second.text).length === 1);
    await fetch(`${endpoint}?n=3`);
    await until(() => numbers(second.text).length === 2);
    second.stop();
    expect(numbers(second.text)).to.deep.equal([2, 3]);
  });

  it("rejects an invalid Last-Event-ID, and a source of another account", async () => {
    const [api, other] = [await system.user(), await system.user()];
    const source = await api.createSource({ component_code: CODE });
    const path = `/sources/${source.id}/sse`;
    expect((await api.request("GET", path, { headers: { "last-event-id": "x" } })).status).to.equal(400);
    expect((await other.request("GET", path)).status).to.equal(404);
  });

  it("allows each key 20 streams at once, and another one when one has ended", async () => {
    const [api, other] = [await system.user(), await system.user()];
    const open = async (client: typeof api) => {
      const source = await client.createSource({ component_code: CODE });
      const url = `${system.baseUrl}/sources/${source.id}/sse`;
      return () => watch(url, { authorization: `Bearer ${client.apiKey}` });
    };
    const [mine, theirs] = [await open(api), await open(other)];
    const streams = await Promise.all(Array.from({ length: 20 }, mine));
    expect(new Set(streams.map(({ status }) => status))).to.deep.equal(new Set([200]));
    const rejected = await mine();
    expect(rejected.status).to.equal(429);
    await until(() => rejected.text.includes("already has 20 open streams"));
    const otherKeys = await theirs();
    expect(otherKeys.status).to.equal(200);
    streams.pop()?.stop();
    const reopened = await until(async () => {
      const one = await mine();
      return one.status === 200 && one;
    });
    for (const stream of [...streams, reopened, otherKeys]) stream.stop();
  });
});
