import { expect } from "chai";
import { usageToday } from "../../src/accounts/usage.ts";
import type { Api } from "../support/api.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";

/** Posts what its props say, and reports what came back. */
const POSTER = `export default {
  name: "Poster", version: "0.0.1", key: "poster", type: "action",
  props: {
    app: { type: "app", app: "poster" }, url: "string", secret: { type: "string", secret: true, optional: true },
    body: "object", count: { type: "integer", min: 1, optional: true },
  },
  async run({ steps, $ }) {
    console.log("posting", steps.trigger.event.n);
    const response = await fetch(this.url, {
      method: "POST", body: JSON.stringify({ ...this.body, count: this.count }),
      headers: { "x-id": steps.trigger.context.id, "x-token": this.app.$auth.token ?? "", "x-secret": this.secret ?? "" },
    });
    $.export("status", response.status);
    if (!response.ok) throw new Error("the receiver said " + response.status);
    $.export("$summary", "Posted " + steps.trigger.event.n);
    return { posted: true };
  },
};`;
const code = (run: string, props = "{}") =>
  `export default { name: "A", version: "0.0.1", type: "action", props: ${props}, async run({ steps, $ }) { ${run} } };`;

interface Attempt {
  number: number;
  status: number | null;
  error: string | null;
  response: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests name the shape if it matters to them
  output?: any;
}

describe("an event that runs an action", () => {
  let system: System;
  let receiver: Receiver;
  let api: Api & { userId: string };

  before(async () => {
    system = await startSystem({
      TIMEOUTS: "run:6s,attempt:1s",
      SIZES_MB: "heap:64",
      SANDBOX_EGRESS_ALLOW: "127.0.0.0/8",
      DELIVERY_RETRY_SCHEDULE: "100ms,100ms",
    });
  });
  beforeEach(async () => {
    receiver = await startReceiver();
    api = await system.user();
  });
  afterEach(() => receiver.close());
  after(() => system.stop());

  /** Deploys an action that receives the events of a workflow of its own; returns how to send it one. */
  async function deploy(action: object, settings: object = {}, by: Api = api) {
    const { id } = await by.expect(201, "POST", "/destinations", { body: { action, ...settings } });
    const workflow = await by.expect(201, "POST", "/workflows", { body: { name: "Flow" } });
    await by.subscribe(workflow.id, id);
    const send = (event: unknown) =>
      by.expect(202, "POST", `/workflows/${workflow.id}/events`, { body: { event } });
    const rows = (): Promise<{ id: string; state: string; event_id: string }[]> =>
      by.expect(200, "GET", "/deliveries", { query: { webhook_id: id } });
    /** The delivery of the only event, once it has ended. */
    const ended = async (): Promise<{ id: string; state: string; attempts: Attempt[] }> => {
      const row = await until(async () => (await rows()).find(({ state }) => state !== "pending"));
      return by.expect(200, "GET", `/deliveries/${row.id}`);
    };
    /** The error of its first attempt; the next one may be a minute later. */
    const firstError = () =>
      until(async () => {
        const [row] = await rows();
        const { attempts } = row ? await by.expect(200, "GET", `/deliveries/${row.id}`) : { attempts: [] };
        return attempts[0]?.error as string | undefined;
      });
    return { id: id as string, send, rows, ended, firstError };
  }

  it("posts exactly what its templates say, and keeps what the action exported", async () => {
    const action = {
      component_code: POSTER,
      configured_props: {
        app: { $auth: { token: "t0ken" } },
        secret: "{{event.n}}",
        url: `${receiver.url}{{event.path}}`,
        body: { user: "{{event.user}}", text: "Hi {{event.user.name}}!", list: ["{{context.event_name}}"] },
        count: "{{event.n}}",
      },
    };
    const { id, send, ended } = await deploy(action);
    expect(id).to.match(/^ac_/);
    await send({ path: "/more", n: 3, user: { name: "Ada" } });
    const delivery = await ended();
    expect(receiver.requests).to.have.length(1);
    const [{ path, raw, headers }] = receiver.requests as [Receiver["requests"][0]];
    expect(path).to.equal(`${new URL(receiver.url).pathname}/more`);
    expect(JSON.parse(raw)).to.deep.equal({ user: { name: "Ada" }, text: "Hi Ada!", list: [""], count: 3 });
    expect(headers).to.include({ "x-id": delivery.id, "x-token": "t0ken", "x-secret": "{{event.n}}" });
    const [attempt] = delivery.attempts;
    expect(attempt).to.include({ number: 1, status: 200, error: null, response: "Posted 3" });
    expect(attempt?.output).to.deep.include({
      summary: "Posted 3",
      exports: { status: 200 },
      return_value: { posted: true },
      truncated: false,
    });
    expect(attempt?.output.logs[0]).to.include({ level: "info", message: "posting 3" });
    expect((await usageToday(system.worker, api.userId)).invocations).to.equal(1);
  });

  it("is repeated under the same id after an error, whose place in the code its attempt shows", async () => {
    receiver.script(500, 503, 200);
    const configured_props = { url: receiver.url, body: {} };
    const { send, ended } = await deploy({ component_code: POSTER, configured_props });
    await send({ n: 1 });
    const { id, state, attempts } = await ended();
    expect(state).to.equal("delivered");
    expect(receiver.requests.map(({ headers }) => headers["x-id"])).to.deep.equal([id, id, id]);
    expect(attempts.map(({ error }) => error)).to.deep.equal([
      "Error: the receiver said 500 (at component.js:14:29)",
      "Error: the receiver said 503 (at component.js:14:29)",
      null,
    ]);
    expect(attempts[0]?.output).to.deep.include({ exports: { status: 500 }, summary: null });
  });

  it("fails with the name of the prop for which the event has no value, or one of another type", async () => {
    const configured_props = { url: "{{event.url}}", body: {}, count: "{{event.n}}" };
    const { send, ended } = await deploy({ component_code: POSTER, configured_props });
    await send({ n: 0, url: receiver.url });
    const { state, attempts } = await ended();
    expect(state).to.equal("failed");
    expect(attempts[0]?.error).to.equal("ConfigurationError: configured_props.count: must be at least 1");
    const other = await deploy({ component_code: POSTER, configured_props });
    await other.send({ n: 1 });
    expect((await other.ended()).attempts[0]?.error).to.equal(
      "ConfigurationError: configured_props.url: {{event.url}} is absent from this event",
    );
    expect(receiver.requests).to.have.length(0);
  });

  it("goes on beyond the time limit of requests, and has the time and the memory of a run @long", async () => {
    const slow = await deploy({
      component_code: code("await new Promise(r => setTimeout(r, 2000)); return 1;"),
    });
    const endless = await deploy({ component_code: code("await new Promise(() => {});") });
    const hungry = await deploy({
      component_code: code("const all = []; for (;;) all.push(new Array(1e6).fill(all.length));"),
    });
    for (const one of [slow, endless, hungry]) await one.send({});
    expect((await slow.ended()).attempts).to.have.length(1);
    expect(await endless.firstError()).to.equal("Timeout: The component ran longer than 6000 ms");
    expect(await hungry.firstError()).to.match(/^Out of Memory: /);
  });

  it("runs one after another for an ordered destination, and holds up what is behind an error", async () => {
    receiver.script(200, 500, 200);
    const configured_props = { url: receiver.url, body: { id: "{{context.event_id}}" } };
    const { send, rows } = await deploy({ component_code: POSTER, configured_props }, { ordered: true });
    for (const n of [1, 2, 3, 4]) await send({ n });
    await until(async () => (await rows()).filter(({ state }) => state === "delivered").length === 4);
    const [first, second, ...others] = (await rows()).map(({ event_id }) => event_id).sort();
    const received = receiver.requests.map(({ raw }) => JSON.parse(raw).id);
    expect(received).to.deep.equal([first, second, second, ...others]);
  });

  it("runs for several events at once, up to what is permitted in flight", async () => {
    receiver.script("hang");
    const action = { component_code: POSTER, configured_props: { url: receiver.url, body: {} } };
    const { send, rows } = await deploy(action, { max_in_flight: 2 });
    for (const n of [1, 2, 3]) await send({ n });
    await until(() => receiver.hanging() === 2, { what: "two at once" });
    receiver.script(200);
    receiver.release();
    await until(async () => {
      const states = (await rows()).map(({ state }) => state);
      return states.length === 3 && states.every(state => state === "delivered");
    });
    expect(receiver.requests).to.have.length(3);
  });

  it("fails an attempt once the account's runs of the day are used up, and waits for more of them", async () => {
    const { send, rows, firstError } = await deploy({ component_code: code("return 1;") });
    const used = system.worker.config.quotas.dailyInvocations;
    const day = new Date(system.worker.clock()).toISOString().slice(0, 10);
    await system.worker.redis.hset(system.worker.keys.usage(api.userId, day), "invocations", used);
    await send({});
    expect(await firstError()).to.equal("Quota Exceeded: the account's daily quota is used up");
    expect((await rows()).map(({ state }) => state)).to.deep.equal(["pending"]);
  });

  it("has the credentials of a connection, and fails once that is gone", async () => {
    const fields = { token: "of-connection" };
    const connection = await api.expect(201, "POST", "/connections", { body: { app: "poster", fields } });
    const configured_props = { app: { authProvisionId: connection.id }, url: receiver.url, body: {} };
    const first = await deploy({ component_code: POSTER, configured_props });
    await first.send({ n: 1 });
    expect((await first.ended()).state).to.equal("delivered");
    expect(receiver.requests[0]?.headers["x-token"]).to.equal("of-connection");
    const second = await deploy({ component_code: POSTER, configured_props });
    await api.expect(204, "DELETE", `/connections/${connection.id}`, { query: { force: "true" } });
    await second.send({ n: 2 });
    expect((await second.ended()).attempts[0]?.error).to.match(/^Connection Failed: the connection apn_/);
  });

  it("keeps secrets out of every response", async () => {
    const { id, send, ended } = await deploy({
      component_code: code(
        "throw new Error('x');",
        `{ app: { type: "app", app: "a" }, key: { type: "string", secret: true }, to: "string" }`,
      ),
      configured_props: { app: { $auth: { token: "s3cret-1" } }, key: "s3cret-2", to: "{{event.to}}" },
    });
    await send({ to: "Ada" });
    const shown = [
      await api.expect(200, "GET", `/destinations/${id}`),
      await api.expect(200, "GET", "/users/me/destinations"),
      await ended(),
    ];
    expect(JSON.stringify(shown)).not.to.include("s3cret");
    expect(shown[0].action).to.include({ component_id: shown[0].action.component_id });
    expect(shown[0].action.configured_props).to.deep.equal({ to: "{{event.to}}" });
    expect(shown[0].action.secrets_set).to.deep.equal(["app", "key"]);
  });
});
