// runs-long: npm test has test/mcp/events/subscribe.test.ts, whose routes these commands call
import { expect } from "chai";
import { type Callback, startCallback, subscribe } from "../../mcp/events/agent.ts";
import type { Api } from "../../support/api.ts";
import { type System, startSystem } from "../../support/system.ts";
import { commandsWith } from "../command.ts";

describe("headwater agent", () => {
  let system: System;
  let api: Api & { userId: string };
  let agent: Callback;
  before(async () => {
    system = await startSystem({}, { workers: false });
    api = await system.user();
    agent = await startCallback();
  });
  after(async () => {
    await agent.close();
    await system.stop();
  });

  const env = () => ({ HEADWATER_URL: system.baseUrl, HEADWATER_API_KEY: api.apiKey });
  const { printed, json, failure, misuse } = commandsWith(env);

  it("lists, shows and disconnects what agents have subscribed to, with the callback's host only", async () => {
    expect(await json("agent", "list")).to.deep.equal([]);
    const { result } = await subscribe(api, { name: "alert.raised", url: agent.url });
    const { host } = new URL(agent.url);
    expect(await printed("agent", "list")).to.match(
      new RegExp(`^${result.id} .*alert.raised +${host} +active +never +20\\S+Z$`, "m"),
    );
    const shown = await printed("agent", "show", result.id);
    expect(shown).to.match(/^event type +alert.raised$/m);
    expect(shown).not.to.contain("mcp_event_subscription");
    expect(await printed("__complete", "agent", "show", "")).to.equal(`${result.id}\n`);
    expect(await misuse("agent", "disconnect", result.id)).to.include("--yes");
    expect(await printed("agent", "disconnect", result.id, "--yes")).to.include(`${result.id} has ended`);
    expect(await json("agent", "list")).to.deep.equal([]);
    expect(await failure("agent", "show", result.id)).to.include("not found");
  });
});
