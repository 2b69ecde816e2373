import { expect } from "chai";
import { noteRunsUsed, PublishQuota } from "../../src/accounts/quota.ts";
import { createUser } from "../../src/accounts/users.ts";
import { Alerts } from "../../src/models/alert.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { until } from "../support/until.ts";

const START = Date.UTC(2026, 10, 2, 3, 4, 5);
const DAY = 86_400_000;

describe("alerts of an account's quota", () => {
  let platform: TestPlatform;
  let now = START;
  let users = 0;
  before(async () => {
    platform = await openTestPlatform(
      { FREE_LIMITS: "daily_invocations=100,daily_compute_ms=1000" },
      { clock: () => now },
    );
  });
  after(() => platform.destroy());
  beforeEach(() => {
    now = START;
  });

  const account = async (plan: "free" | "paid" = "free") =>
    (await createUser(platform, { email: `quota${++users}@example.test`, plan })).id;
  const alerts = async (owner_id: string) =>
    (await Alerts(platform.mongo).find({ owner_id }).sort({ at_ms: 1, type: 1 }).lean()).map(
      ({ type, details }) => `${type} ${details.quota}`,
    );

  it("are raised at 80 % and at all of the day's runs, once each", async () => {
    const id = await account();
    noteRunsUsed(platform, id, { invocations: 79, compute: 0 });
    noteRunsUsed(platform, id, { invocations: 80, compute: 0 });
    await until(async () => (await alerts(id)).length === 1);
    for (const invocations of [90, 99, 100, 101]) noteRunsUsed(platform, id, { invocations, compute: 0 });
    await until(async () => (await alerts(id)).length === 2);
    expect(await alerts(id)).to.have.members(["quota.80 invocations", "quota.100 invocations"]);
  });

  it("are raised again on the next day, and for compute time by itself", async () => {
    const id = await account();
    noteRunsUsed(platform, id, { invocations: 85, compute: 999 });
    await until(async () => (await alerts(id)).length === 2);
    now += DAY;
    noteRunsUsed(platform, id, { invocations: 85, compute: 0 });
    await until(async () => (await alerts(id)).length === 3);
    expect(await alerts(id)).to.have.members([
      "quota.80 compute",
      "quota.80 invocations",
      "quota.80 invocations",
    ]);
  });

  it("concern no account that pays", async () => {
    const [free, paid] = [await account(), await account("paid")];
    noteRunsUsed(platform, paid, { invocations: 100, compute: 5000 });
    noteRunsUsed(platform, free, { invocations: 100, compute: 0 });
    await until(async () => (await alerts(free)).length === 1);
    expect(await alerts(paid)).to.be.empty;
  });

  it("concern published events", async () => {
    const id = await account();
    const quota = new PublishQuota(platform);
    await quota.count(id, 79, 100);
    await quota.count(id, 1, 100);
    await until(async () => (await alerts(id)).length === 1);
    expect(await quota.count(id, 21, 100).catch(({ code }: { code: string }) => code)).to.equal(
      "rate-limited",
    );
    await until(async () => (await alerts(id)).length === 2);
    expect(await alerts(id)).to.have.members(["quota.80 published_events", "quota.100 published_events"]);
  });
});
