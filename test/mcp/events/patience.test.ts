// runs-long: npm test has test/mcp/events/subscribe.test.ts and test/mcp/events/rejections.test.ts, where callbacks respond at once
import { expect } from "chai";
import { CODES } from "../../../src/mcp/protocol.ts";
import { type System, startSystem } from "../../support/system.ts";
import { until } from "../../support/until.ts";
import { type Callback, startCallback, subscribe } from "./agent.ts";

const CODE = `export default { name: "One", version: "0.0.1", props: { http: "$.interface.http" },
  run({ body }) { this.$emit(body); } };`;

describe("mcp/events, a callback that takes its time", () => {
  let system: System;
  let api: Awaited<ReturnType<System["user"]>>;
  let source: { id: string; url: string };
  let agent: Callback;
  before(async () => {
    system = await startSystem({ RATE_LIMITS: "api:0" });
    api = await system.user();
    const { id, configured_props } = await api.createSource({ component_code: CODE });
    source = { id, url: configured_props.http?.endpoint_url ?? "" };
  });
  afterEach(() => agent.close());
  after(() => system.stop());

  const wanted = () => ({ name: "source.event", arguments: { source: source.id }, url: agent.url });

  it("is not accepted if it does not respond to the challenge within ten seconds", async () => {
    agent = await startCallback({ echo: () => "hang" });
    const { error } = await subscribe(api, wanted());
    expect(error).to.deep.include({ code: CODES.callbackEndpoint, data: { reason: "timeout" } });
  });

  it("gets a delivery again, with the same id and the same bytes", async () => {
    let tries = 0;
    agent = await startCallback({
      reply() {
        tries += 1;
        return tries === 1 ? 500 : 200;
      },
    });
    await subscribe(api, wanted());
    await fetch(source.url, { method: "POST", body: "{}" });
    await until(() => agent.events.length === 2, { what: "it comes again" });
    const [first, second] = agent.events;
    expect(second?.raw).to.equal(first?.raw);
    expect(second?.headers["webhook-id"]).to.equal(first?.headers["webhook-id"]);
  });
});
