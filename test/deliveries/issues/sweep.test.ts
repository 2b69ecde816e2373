import { expect } from "chai";
import { beginIssueSweep } from "../../../src/deliveries/issues/sweep.ts";
import { issueIdOf } from "../../../src/issues/cause.ts";
import { issueCountsOf } from "../../../src/issues/issue-counts.ts";
import { newId } from "../../../src/lib/ids.ts";
import { LIMITS } from "../../../src/limits/catalogue.ts";
import { Issues } from "../../../src/models/issue.ts";
import { type Webhook, Webhooks } from "../../../src/models/webhook.ts";
import { createWebhook } from "../../../src/webhooks/webhooks.ts";
import { openTestPlatform, type TestPlatform } from "../../support/platform.ts";
import { OWNER } from "../fixtures.ts";

describe("the sweep of issues", () => {
  let now = Date.UTC(2026, 10, 2);
  let platform: TestPlatform;
  before(async () => {
    platform = await openTestPlatform({}, { clock: () => now });
  });
  after(() => platform.destroy());

  const webhook = async (changes: Partial<Webhook> = {}) => {
    const { id } = await createWebhook(platform, {
      ownerId: OWNER,
      userId: OWNER,
      url: "https://example.com/",
    });
    await Webhooks(platform.mongo).updateOne({ _id: id }, { $set: changes });
    return id;
  };
  const fails = async (listenerId: string, cause = "timeout") => {
    const counts = issueCountsOf(platform);
    const of = { ownerId: OWNER, listenerId, deliveryId: "dlv_1", cause };
    counts.note({ ...of, atMs: now, status: null, error: "timeout: slow", isLast: false });
    await counts.flush();
  };
  const sweep = async () => {
    for (let cursor: string | null = null, first = true; first || cursor !== null; first = false) {
      ({ next: cursor } = await beginIssueSweep(platform)(cursor));
    }
  };
  const stateOf = async (listenerId: string, cause = "timeout") =>
    (await Issues(platform.mongo).findById(issueIdOf(listenerId, cause)).lean())?.state;

  it("resolves what was quiet for long enough at a listener that is active and does not fail", async () => {
    const [well, failing, disabled, gone] = [
      ...[await webhook(), await webhook({ failing_since_ms: now })],
      ...[await webhook({ active: false }), newId("wh")],
    ] as [string, string, string, string];
    for (const id of [well, failing, disabled, gone]) await fails(id);
    await Issues(platform.mongo).updateOne(
      { _id: issueIdOf(well, "timeout") },
      { $set: { state: "acknowledged", acknowledged_at_ms: now, acknowledged_by: "u_1" } },
    );
    now += LIMITS.issueQuietMs.value;
    await sweep();
    expect(await stateOf(well)).to.equal("acknowledged");
    now += 1;
    await fails(well, "dns");
    await sweep();
    expect(await Promise.all([well, failing, disabled, gone].map(id => stateOf(id)))).to.deep.equal([
      "resolved",
      "open",
      "open",
      undefined,
    ]);
    expect(await stateOf(well, "dns")).to.equal("open");
    expect(await Issues(platform.mongo).findById(issueIdOf(well, "timeout")).lean()).to.include({
      resolved_by: "quiet",
      resolved_at_ms: now,
      acknowledged_by: "u_1",
    });
    now += 1;
    await fails(well);
    expect(await stateOf(well)).to.equal("open");
  });
});
