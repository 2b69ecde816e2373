import { expect } from "chai";
import { alertOfExhausted } from "../../../src/deliveries/attempt/failed-alert.ts";
import { issueIdOf } from "../../../src/issues/cause.ts";
import { issueCountsOf } from "../../../src/issues/issue-counts.ts";
import { newId } from "../../../src/lib/ids.ts";
import { LIMITS } from "../../../src/limits/catalogue.ts";
import { Alerts } from "../../../src/models/alert.ts";
import { createWebhook } from "../../../src/webhooks/webhooks.ts";
import { openTestPlatform, type TestPlatform } from "../../support/platform.ts";

const HOUR = 3_600_000;

describe("the alert of a delivery that has no retry left", () => {
  const ownerId = "u_0000000000000001";
  let now = Date.UTC(2026, 10, 2, 3, 4, 5);
  let platform: TestPlatform;
  let id: string;
  before(async () => {
    platform = await openTestPlatform({}, { clock: () => now });
  });
  after(() => platform.destroy());
  beforeEach(async () => {
    now += 24 * HOUR;
    ({ id } = await createWebhook(platform, {
      ...{ ownerId, userId: ownerId, url: "https://example.com/hook?token=secret", name: "orders" },
    }));
  });

  const failed = (changes: { cause?: string; listener?: string; reason?: "exhausted" | "gone" } = {}) => {
    const { cause = "timeout", listener = id, reason = "exhausted" } = changes;
    const delivery = { _id: newId("dlv"), webhook_id: listener };
    return { delivery, cause, decision: { kind: "failed", reason } as const };
  };
  const alerts = () => Alerts(platform.mongo).find({ "subject.id": id }).sort({ at_ms: 1 }).lean();

  it("is raised once an hour for its listener, and says what of its issue is known", async () => {
    const counts = issueCountsOf(platform);
    const noted = { ownerId, listenerId: id, deliveryId: "dlv_1", cause: "timeout", atMs: now };
    for (const isLast of [true, true, false])
      counts.note({ ...noted, status: null, error: "timeout", isLast });
    await counts.flush();
    const attempts = [failed({ cause: "dns" }), failed(), failed()];
    await alertOfExhausted(platform, attempts);
    await alertOfExhausted(platform, [failed()]);
    now += HOUR / 2;
    await alertOfExhausted(platform, [failed()]);
    const [alert, ...others] = await alerts();
    expect(others).to.deep.equal([]);
    expect(alert).to.deep.include({
      ...{ owner_id: ownerId, type: "delivery.failed", subject: { id, name: "orders" } },
      message: `4 deliveries to webhook "orders" (${id}) failed (timeout): no retry is left`,
      details: {
        issue_id: issueIdOf(id, "timeout"),
        cause: "timeout",
        failed_since_opened: 4,
        delivery_id: attempts[2]?.delivery._id,
      },
    });
    now += HOUR;
    await alertOfExhausted(platform, [failed({ cause: "dns" })]);
    expect((await alerts())[1]?.message).to.equal(
      `a delivery to webhook "orders" (${id}) failed (dns): no retry is left`,
    );
  });

  it("is one, whichever processes see that it failed", async () => {
    await Promise.all(
      Array.from({ length: 5 }, (_, n) =>
        alertOfExhausted({ ...platform, clock: () => now + n }, [failed()]),
      ),
    );
    expect(await alerts()).to.have.length(1);
  });

  it("is not raised for any other end of a delivery, nor of a webhook that is gone", async () => {
    await alertOfExhausted(platform, [
      failed({ reason: "gone" }),
      { ...failed(), decision: { kind: "retry", delayMs: 1 } },
      { ...failed(), cause: null, decision: { kind: "delivered" } },
      failed({ listener: newId("wh") }),
    ]);
    expect(await Alerts(platform.mongo).countDocuments({ at_ms: now })).to.equal(0);
  });

  it("leaves room for those of other kinds", async () => {
    const row = { owner_id: ownerId, type: "quota.80" as const, subject: null, message: "low", details: {} };
    await Alerts(platform.mongo).insertMany(
      Array.from({ length: LIMITS.deliveryAlertsPerDay.value }, (_, n) => ({
        ...{ ...row, _id: `${id}-${n}`, at_ms: now, expires_at: new Date(now) },
      })),
    );
    await alertOfExhausted(platform, [failed()]);
    expect(await alerts()).to.deep.equal([]);
  });
});
