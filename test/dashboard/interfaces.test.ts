import { expect } from "chai";
import { endpointOf, triggerOf } from "../../dashboard/lib/interfaces.ts";

const URL = "https://headwater.example/in/x";

describe("interfaces of a source", () => {
  it("are found whatever its component calls them", () => {
    expect(endpointOf({ label: "orders", hook: { endpoint_url: URL } })).to.equal(URL);
    expect(triggerOf({ hook: { endpoint_url: URL } })).to.equal("HTTP");
    expect(triggerOf({ due: { cron: "0 8 * * *", interval_seconds: null } })).to.equal("cron 0 8 * * *");
    expect(triggerOf({ due: { cron: null, interval_seconds: 300 } })).to.equal("every 5 min");
    expect(triggerOf({ due: { cron: null, interval_seconds: 90 } })).to.equal("every 90 s");
  });

  it("include no endpoint of an apphook, which is its connection's", () => {
    const props = { events: { endpoint_url: URL, event_names: ["push"] } };
    expect(endpointOf(props)).to.equal(undefined);
    expect(triggerOf(props)).to.equal("app");
  });

  it("are told to a viewer, who sees no address", () => {
    expect(endpointOf({ http: {} })).to.equal(undefined);
    expect(triggerOf({ http: {} })).to.equal("HTTP");
  });

  it("are none where values only look like one", () => {
    expect(triggerOf({})).to.equal("events");
    expect(triggerOf({ http: null })).to.equal("events");
    expect(triggerOf({ http: "a text", tags: ["a"], nothing: null })).to.equal("events");
  });
});
