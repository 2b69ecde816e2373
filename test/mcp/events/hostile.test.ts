import { expect } from "chai";
import { createEgress } from "../../../src/egress/agent.ts";
import { createResolver } from "../../../src/egress/blocked-hosts.ts";
import { newId } from "../../../src/lib/ids.ts";
import { LIMITS } from "../../../src/limits/catalogue.ts";
import { CODES } from "../../../src/mcp/protocol.ts";
import { MCP_IDS, type McpListener, Webhooks } from "../../../src/models/webhook.ts";
import type { Platform } from "../../../src/platform.ts";
import { type NameServer, startNameServer } from "../../egress/name-server.ts";
import type { Received } from "../../support/receiver.ts";
import { type System, startSystem } from "../../support/system.ts";
import { until } from "../../support/until.ts";
import { exchange, modern } from "../mcp.ts";
import { type Callback, startCallback, subscribe } from "./agent.ts";

const CODE = `export default { name: "One", version: "0.0.1", props: { http: "$.interface.http" },
  run({ body }) { this.$emit(body); } };`;
const LOOKUP_MS = 2000;

/** What callbacks do that mean ill, or that mean well and go in circles. */
describe("mcp/events, hostile callbacks", () => {
  let system: System;
  let names: NameServer;
  const callbacks: Callback[] = [];
  const closers: (() => Promise<void>)[] = [];
  before(async () => {
    names = await startNameServer({ "private.test": ["10.0.0.1"] });
    system = await startSystem({ RATE_LIMITS: "api:0", MCP: "write", SWEEP_EVERY: "1h" });
    for (const platform of [system.web, system.worker]) resolveBy(platform);
  });
  after(async () => {
    await Promise.all(callbacks.map(one => one.close()));
    await system.stop();
    await Promise.all(closers.map(close => close()));
    await names.close();
  });

  /** Only the names of the test's own server are known from now on. */
  function resolveBy(platform: Platform): void {
    const egress = createEgress({
      allow: platform.config.egressAllow,
      blockedHosts: [],
      connectTimeoutMs: LOOKUP_MS,
      resolve: createResolver(LOOKUP_MS, names.resolver),
    });
    closers.push(() => egress.close());
    Object.defineProperty(platform, "egress", { value: egress });
  }
  const callback = async (given?: Parameters<typeof startCallback>[0]): Promise<Callback> => {
    const started = await startCallback(given);
    callbacks.push(started);
    return started;
  };
  const newSource = async () => {
    const api = await system.user();
    const { id, configured_props } = await api.createSource({ component_code: CODE });
    return { api, id, url: configured_props.http?.endpoint_url ?? "" };
  };
  const emit = (url: string, event: object) =>
    fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(event),
    });
  const firstAttempt = ({ api }: Awaited<ReturnType<typeof newSource>>, listenerId: string) =>
    until(async () => {
      const { body } = await api.request("GET", `/deliveries?webhook_id=${listenerId}`);
      return body.data[0]?.last_attempt;
    });

  it("learn nothing of a private network: a name of it, and one that is not there, are one error", async () => {
    const source = await newSource();
    for (const host of ["private.test", "absent.test"]) {
      const wanted = { name: `source.${source.id}`, url: `https://${host}/` };
      const { error } = await subscribe(source.api, wanted);
      expect(error, host).to.deep.equal({
        code: CODES.callbackEndpoint,
        message: "the callback can't be used: connection_refused",
        data: { reason: "connection_refused" },
      });
    }
    expect(names.lookups).to.include("private.test");
  });

  it("get nothing more once their name has moved to a private address", async () => {
    const source = await newSource();
    const agent = await callback();
    const { result } = await subscribe(source.api, { name: `source.${source.id}`, url: agent.url });
    const moved = { $set: { url: "https://private.test/" } };
    await Webhooks(system.web.mongo).updateOne({ _id: result.id }, moved);
    await system.web.routing.invalidate([source.api.userId]);
    await emit(source.url, { n: 1 });
    const attempt = await firstAttempt(source, result.id);
    expect(attempt.error).to.match(/^blocked-address/);
    expect(agent.events).to.deep.equal([]);
  });

  it("can't send what they get elsewhere by a redirect", async () => {
    const source = await newSource();
    const elsewhere = await callback();
    const agent = await callback({ reply: { status: 307, headers: { location: elsewhere.url } } });
    const { result } = await subscribe(source.api, { name: `source.${source.id}`, url: agent.url });
    await emit(source.url, { n: 1 });
    const attempt = await firstAttempt(source, result.id);
    expect(attempt.status).to.equal(307);
    expect(elsewhere.receiver.requests).to.deep.equal([]);
  });

  it("end after so many turns, if they publish what wakes them and say what it follows from", async () => {
    const source = await newSource();
    const publish = async ({ headers }: Received) => {
      const given = { source: source.id, event: { again: true } };
      const request = modern("tools/call", { name: "publish_event", arguments: given });
      const passedOn = { "x-headwater-hops": String(headers["x-headwater-hops"]) };
      await exchange(source.api, {
        ...request,
        path: "/mcp?write=1",
        headers: { ...request.headers, ...passedOn },
      });
      return 200;
    };
    const agent = await callback({ reply: publish });
    await subscribe(source.api, { name: `source.${source.id}`, url: agent.url });
    await emit(source.url, { again: true });
    await until(
      async () => {
        const { dropped } = await source.api.expect(200, "GET", `/sources/${source.id}`);
        return dropped.loop > 0;
      },
      { what: "the loop ends" },
    );
    expect(agent.events).to.have.length(LIMITS.hops.value + 1);
  });

  it("are bounded however many subscriptions a key asks for, at once too", async () => {
    const source = await newSource();
    const agent = await callback();
    const wanted = (n: number) => ({
      name: `source.${source.id}`,
      arguments: { filter: { n } },
      url: agent.url,
    });
    const max = LIMITS.mcpSubscriptionsPerKey.value;
    const [free, asked, atOnce] = [3, 30, 10];
    const { result: first } = await subscribe(source.api, wanted(0));
    const row = await Webhooks(system.web.mongo).findById(first.id).lean<McpListener>();
    const copies = Array.from({ length: max - free - 1 }, () => ({
      ...(row as McpListener),
      _id: newId("ms"),
    }));
    await Webhooks(system.web.mongo).insertMany(copies);
    let [next, granted] = [1, 0];
    await Promise.all(
      Array.from({ length: atOnce }, async () => {
        while (next < asked) {
          const { result, error } = await subscribe(source.api, wanted(next++));
          if (result) granted += 1;
          else expect(error?.code).to.equal(CODES.resourceExhausted);
        }
      }),
    );
    const owned = { owner_id: source.api.userId, _id: MCP_IDS };
    expect(granted).to.be.within(free, free + atOnce);
    expect(await Webhooks(system.web.mongo).countDocuments(owned)).to.equal(max - free + granted);
    expect(agent.challenges, "the callback is asked once").to.have.length(1);
  });
});
