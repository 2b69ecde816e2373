import { expect } from "chai";
import { newId } from "../../../src/lib/ids.ts";
import { LIMITS } from "../../../src/limits/catalogue.ts";
import { challenge } from "../../../src/mcp/events/challenge.ts";
import type { RpcError } from "../../../src/mcp/protocol.ts";
import { openTestPlatform, type TestPlatform } from "../../support/platform.ts";
import { type Callback, newSecret, right, startCallback } from "./agent.ts";

describe("a challenge of a callback", () => {
  let platform: TestPlatform;
  let agent: Callback;
  before(async () => {
    platform = await openTestPlatform({}, { process: "web" });
    agent = await startCallback({ echo: right });
  });
  after(async () => {
    await agent.close();
    await platform.destroy();
  });

  /** By a key of its own each time. */
  const ask = (isKnown: boolean): Promise<void> =>
    challenge(platform, {
      ...{ id: newId("ms"), url: agent.url, secret: newSecret(), keyId: newId("key") },
      isKnown,
    });

  it("is made at a host so often in a minute, by all keys together; what has responded before is asked on", async () => {
    const most = LIMITS.mcpChallengesOfHost.value;
    for (let n = 0; n < most; n += 50) await Promise.all(Array.from({ length: 50 }, () => ask(false)));
    const error: RpcError = await ask(false).then(
      () => expect.fail("one more"),
      thrown => thrown,
    );
    expect(error.data).to.deep.equal({ limit: "challenges_per_minute_of_host", max: most });
    expect(agent.challenges).to.have.length(most);
    await ask(true);
    expect(agent.challenges).to.have.length(most + 1);
  });
});
