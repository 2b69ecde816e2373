// runs-long: npm test has test/cli/walk.test.ts

import { expect } from "chai";
import { verify } from "../../../clients/typescript/src/webhooks/index.ts";
import type { Api } from "../../support/api.ts";
import { type Received, type Receiver, startReceiver } from "../../support/receiver.ts";
import { type System, startSystem } from "../../support/system.ts";
import { until } from "../../support/until.ts";
import { headwater, type RunningCommand, startHeadwater } from "../command.ts";
import { type CutProxy, startCutProxy } from "./cut-proxy.ts";

describe("headwater listen", () => {
  let system: System;
  let api: Api;
  let proxy: CutProxy;
  let local: Receiver;
  let env: Record<string, string>;
  let flow: string;
  const started: RunningCommand[] = [];
  before(async () => {
    system = await startSystem();
    api = await system.user();
    proxy = await startCutProxy(system.baseUrl);
    env = { HEADWATER_URL: proxy.url, HEADWATER_API_KEY: api.apiKey };
  });
  beforeEach(async () => {
    local = await startReceiver(200);
    flow = (await api.expect(201, "POST", "/workflows", { body: { name: "Flow" } })).id;
  });
  afterEach(() => local.close());
  after(async () => {
    for (const command of started) command.kill("SIGKILL");
    await proxy.close();
    await system.stop();
  });

  async function listen(...args: string[]): Promise<RunningCommand> {
    const command = startHeadwater(["listen", flow, "--to", local.url, ...args], env);
    started.push(command);
    await until(() => {
      if (command.stderr().includes("Ready: events go to")) return true;
      throw new Error(command.stdout() + command.stderr());
    });
    return command;
  }
  const publish = (events: object[]) =>
    api.expect(202, "POST", `/workflows/${flow}/events`, { body: { events } });
  const numbers = () => local.requests.map(({ raw }) => JSON.parse(raw).n);
  const headersOf = ({ headers }: Received) =>
    Object.fromEntries(Object.entries(headers).filter(([name]) => /^(x-headwater|content-type)/.test(name)));

  it("sends the bytes and the headers of a delivery, signed with the key that it prints once", async () => {
    const real = await startReceiver(200);
    const webhook = await api.createWebhook(real.url);
    await api.subscribe(flow, webhook.id);
    const command = await listen();
    const events = [
      { order: 17, note: "wörld \u2028 \ud83d\ude00", amount: 1e21, tiny: 1e-7, list: [null, false, ""] },
      { long: "ä".repeat(5000) },
      { "2": "b", "1": "a", z: { __proto__: null, y: -0 } },
    ];
    for (const event of events) await publish([{ event }]);
    await until(() => local.requests.length === 3 && real.requests.length === 3);
    await real.close();
    const byEvent = (requests: Received[]) =>
      new Map(requests.map(request => [request.headers["x-headwater-event-id"], request]));
    const [there, here] = [byEvent(real.requests), byEvent(local.requests)];
    for (const [id, request] of there) {
      expect(here.get(id)?.raw).to.equal(request.raw);
      expect(here.get(id) && headersOf(here.get(id) as Received)).to.deep.equal(headersOf(request));
    }
    const [, key = ""] = /^Signing key of this listener: (whsec_\S+)$/m.exec(command.stdout()) ?? [];
    for (const { raw, headers } of local.requests) {
      expect(await verify(raw, headers as Record<string, string>, key)).to.deep.include({
        payload: JSON.parse(raw),
      });
    }
    expect(command.stdout().split("whsec_")).to.have.length(2);
    await until(() => command.stdout().match(/^20\S+Z \d+-\d+ → 200 in \d+ ms$/gm)?.length === 3);
  });

  it("sends what a webhook of another format gets", async () => {
    const real = await startReceiver(200);
    const webhook = await api.expect(201, "POST", "/webhooks", {
      body: { url: real.url, format: "cloudevents" },
    });
    await api.subscribe(flow, webhook.id);
    await listen("--format", "cloudevents");
    await publish([{ event: { n: 1 } }]);
    await until(() => local.requests.length === 1 && real.requests.length === 1);
    await real.close();
    const [here, there] = [local.requests[0], real.requests[0]] as [Received, Received];
    expect(here.raw).to.equal(there.raw);
    expect(headersOf(here)).to.deep.equal(headersOf(there));
    expect(JSON.parse(here.raw)).to.deep.include({ specversion: "1.0", data: { n: 1 } });
  });

  it("goes on behind the last event after a lost connection, each once and in order", async () => {
    const command = await listen("--json");
    await publish([{ event: { n: 1 } }]);
    await until(() => local.requests.length === 1);
    proxy.cut();
    await publish([2, 3, 4].map(n => ({ event: { n } })));
    await until(async () => {
      const { body } = await api.request("GET", `/workflows/${flow}/event_summaries`);
      return body.data.length === 4;
    });
    proxy.restore();
    await until(() => local.requests.length >= 4);
    await publish([{ event: { n: 5 } }]);
    await until(() => local.requests.length >= 5);
    expect(numbers()).to.deep.equal([1, 2, 3, 4, 5]);
    expect(command.stderr()).to.include("Connected again.");
    command.kill("SIGINT");
    const { code, stdout, stderr } = await command.ended;
    expect(code, stderr).to.equal(0);
    const lines = stdout
      .trim()
      .split("\n")
      .map(line => JSON.parse(line));
    expect(lines[0].signing_key).to.match(/^whsec_/);
    expect(lines.slice(1).map(({ status }) => status)).to.deep.equal([200, 200, 200, 200, 200]);
    expect(lines[1].webhook_id).to.equal(`listen_${flow}_${lines[1].event_id}`);
    expect(stderr).to.include(`--since ${lines[5].event_id} goes on behind it`);

    // A second listener begins where the first ended.
    await publish([{ event: { n: 6 } }]);
    await listen("--since", lines[5].event_id);
    await until(() => local.requests.length >= 6);
    expect(numbers()).to.deep.equal([1, 2, 3, 4, 5, 6]);
  });

  it("prints what a failing address responded, and goes on", async () => {
    local.script(500, "reset", 200);
    const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
    env = { ...env, HEADWATER_LISTEN_SECRET: secret };
    const command = await listen("--channel", "alerts");
    await publish(
      [1, 2, 3].map(n => ({ event: { n }, name: "alerts" })).concat([{ event: { n: 9 }, name: "other" }]),
    );
    await until(() => local.requests.length === 3);
    await until(() => / \[alerts\] → 200 in /.test(command.stdout()));
    expect(command.stdout())
      .to.match(/→ 500 in \d+ ms$/m)
      .and.to.match(/→ the connection to .* in \d+ ms$/m);
    expect(command.stdout()).not.to.include("whsec_");
    const [first] = local.requests;
    await verify(first?.raw ?? "", first?.headers as Record<string, string>, secret);
    expect(numbers()).to.deep.equal([1, 2, 3]);
  });

  it("names what is wrong with what it was given", async () => {
    const cases: [string[], RegExp, number][] = [
      [[flow, "--to", "localhost:3000"], /--to: localhost:3000 is not an http or https URL/, 2],
      [[flow, "--to", local.url, "--since", "yesterday"], /--since: must be an event id/, 2],
      [[flow, "--to", local.url, "--secret", "hush"], /HEADWATER_LISTEN_SECRET: must be whsec_/, 2],
      [["absent", "--to", local.url], /none is called absent/, 1],
    ];
    const results = await Promise.all(
      cases.map(([args]) => headwater(["listen", ...args], { ...env, HEADWATER_LISTEN_SECRET: "" })),
    );
    for (const [index, [, message, code]] of cases.entries()) {
      expect(results[index]?.stderr).to.match(message);
      expect(results[index]?.code, results[index]?.stderr).to.equal(code);
    }
  });

  it("ends with the reason once its key is revoked", async () => {
    const key = await api.expect(201, "POST", "/api_keys", { body: {} });
    env = { HEADWATER_URL: proxy.url, HEADWATER_API_KEY: key.api_key };
    const command = await listen();
    await api.request("DELETE", `/api_keys/${key.id}`);
    const { code, stderr } = await command.ended;
    expect([code, stderr]).to.deep.equal([1, stderr]);
    expect(stderr).to.match(/the live stream has ended: key-revoked/);
  });
});
