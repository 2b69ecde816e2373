import { expect } from "chai";
import type { Api } from "../support/api.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";

const FAILING = `export default { name: "Failing", version: "0.0.1", props: { http: "$.interface.http" },
  run({ body }) { throw new Error(body.why); } };`;
const MESSAGE = "export default event => ({ text: 'It failed: ' + event.error.message });";

/** docs/functions.md */
describe("the function of an auto subscription", () => {
  let system: System;
  let receiver: Receiver;
  let api: Api & { userId: string };
  let webhook: string;

  before(async () => {
    system = await startSystem();
    receiver = await startReceiver();
  });
  beforeEach(async () => {
    api = await system.user();
    webhook = (await api.createWebhook(receiver.url)).id;
  });
  after(async () => {
    await receiver?.close();
    await system?.stop();
  });

  const auto = (body: object, listener_id = webhook) =>
    api.request("POST", "/auto_subscriptions", { query: { event_name: "$errors", listener_id }, body });
  const ofSource = async (): Promise<{ function_hash?: string }> => {
    const { id } = await api.createSource({ component_code: FAILING });
    const all: { emitter_id: string; function_hash?: string }[] = await api.expect(
      200,
      "GET",
      "/users/me/subscriptions",
    );
    return all.find(one => one.emitter_id === id) ?? {};
  };

  it("is called for the errors of sources that are created later", async () => {
    const { body } = await auto({ function: MESSAGE });
    expect(body.data).to.include({ event_name: "$errors", listener_id: webhook, function: MESSAGE });
    const source = await api.createSource({ component_code: FAILING });
    await fetch(source.configured_props.http?.endpoint_url ?? "", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{ "why": "no order" }',
    });
    await until(() => receiver.requests.length === 1, { what: "the message" });
    expect(JSON.parse(receiver.requests[0]?.raw ?? "")).to.deep.equal({ text: "It failed: no order" });
  });

  it("is replaced and taken away for what is created from then on, and kept otherwise", async () => {
    const first = (await auto({ function: MESSAGE })).body.data;
    expect((await auto({})).body.data).to.deep.equal(first);
    expect(await ofSource()).to.include({ function_hash: first.function_hash });
    const second = (await auto({ function: "export default event => event;" })).body.data;
    expect(second).to.include({ id: first.id }).and.property("function_hash").not.equal(first.function_hash);
    expect(await ofSource()).to.include({ function_hash: second.function_hash });
    const [listed] = await api.expect(200, "GET", "/users/me/auto_subscriptions");
    expect(listed).to.include({ function_hash: second.function_hash });
    expect(listed).not.to.have.property("function");
    expect((await auto({ function: null })).body.data).not.to.have.any.keys("function", "function_hash");
    expect(await ofSource()).not.to.have.property("function_hash");
  });

  it("that can't be used is rejected by the name of the field", async () => {
    const flow = (await api.expect(201, "POST", "/workflows", { body: { name: "Flow" } })).id;
    for (const [code, listener, expected] of [
      ["export default (", webhook, /^line 1, column \d+: /],
      ["export default 1;", webhook, /must be a function/],
      [MESSAGE, flow, /only deliveries go through a function/],
    ] as const) {
      const { status, body } = await auto({ function: code }, listener);
      expect([status, body.errors?.[0].path], code).to.deep.equal([400, "function"]);
      expect(body.errors[0].message).to.match(expected);
    }
    expect((await api.request("GET", "/users/me/auto_subscriptions")).body.data).to.deep.equal([]);
  });
});
