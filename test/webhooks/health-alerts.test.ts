import { expect } from "chai";
import { issueIdOf } from "../../src/issues/cause.ts";
import { Alerts } from "../../src/models/alert.ts";
import { type Webhook, Webhooks } from "../../src/models/webhook.ts";
import { disableGone, noteFailure, noteSuccess } from "../../src/webhooks/health.ts";
import { createWebhook, updateWebhook } from "../../src/webhooks/webhooks.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const START = Date.UTC(2026, 10, 2, 3, 4, 5);

describe("the alerts of a webhook", () => {
  let now = START;
  let platform: TestPlatform;
  let id: string;
  const ownerId = "u_0000000000000001";

  before(async () => {
    platform = await openTestPlatform({}, { clock: () => now });
  });
  after(() => platform.destroy());
  beforeEach(async () => {
    now = START;
    const url = "https://example.com/hook?token=secret";
    ({ id } = await createWebhook(platform, { ownerId, userId: ownerId, url, name: "orders" }));
  });

  const stored = async (): Promise<Webhook> => {
    const found = await Webhooks(platform.mongo).findById(id).lean<Webhook | null>();
    if (!found) throw new Error("no webhook");
    return found;
  };
  /** As another process does, which reads the webhook first. */
  const fails = async () => noteFailure(platform, await stored());
  const works = async () => noteSuccess(platform, await stored());
  const alerts = async () =>
    await Alerts(platform.mongo).find({ "subject.id": id }).sort({ at_ms: 1, type: 1 }).lean();
  const types = async () => (await alerts()).map(({ type }) => type);

  it("say that it fails once it has failed for a while, that it will be disabled, and that it was", async () => {
    await fails();
    now += 3 * MINUTE - 1;
    await fails();
    expect(await types()).to.be.empty;
    now += 1;
    for (let n = 0; n < 3; n++) await fails();
    expect(await types()).to.deep.equal(["webhook.failing"]);
    now = START + 2.5 * DAY;
    for (let n = 0; n < 3; n++) await fails();
    now = START + 5 * DAY;
    for (let n = 0; n < 3; n++) await fails();
    const raised = await alerts();
    expect(raised.map(({ type }) => type)).to.deep.equal([
      "webhook.failing",
      "webhook.will_be_disabled",
      "webhook.disabled",
    ]);
    expect(raised[0]).to.deep.include({
      owner_id: ownerId,
      subject: { id, name: "orders" },
      details: { failing_since_ms: START, will_be_disabled_at_ms: START + 5 * DAY },
      message: `every attempt to deliver to webhook "orders" (${id}) has failed since 2026-11-02T03:04:05.000Z; a failure after 2026-11-07T03:04:05.000Z disables it`,
    });
    expect(JSON.stringify(raised)).not.to.contain("secret");
  });

  it("name the issue, if the attempt had a cause", async () => {
    const failing = async () => noteFailure(platform, await stored(), "status:503");
    await failing();
    now += 3 * MINUTE;
    await failing();
    now += 1;
    await disableGone(platform, await stored(), "status:410");
    const details = (await alerts()).map(alert => alert.details);
    expect(details).to.deep.equal([
      {
        ...{ failing_since_ms: START, will_be_disabled_at_ms: START + 5 * DAY },
        ...{ issue_id: issueIdOf(id, "status:503"), cause: "status:503" },
      },
      {
        reason: "the endpoint returned 410 Gone",
        ...{ issue_id: issueIdOf(id, "status:410"), cause: "status:410" },
      },
    ]);
  });

  it("are raised once, however many processes see it fail at the same time", async () => {
    await fails();
    now += DAY;
    const seen = await Promise.all(Array.from({ length: 8 }, stored));
    await Promise.all(seen.map(webhook => noteFailure(platform, webhook)));
    expect(await types()).to.deep.equal(["webhook.failing"]);
    now += 4 * DAY;
    const later = await Promise.all(Array.from({ length: 8 }, stored));
    await Promise.all(later.map(webhook => noteFailure(platform, webhook)));
    expect(await types()).to.deep.equal(["webhook.failing", "webhook.disabled"]);
  });

  it("say that it works again, and are raised again in the next episode", async () => {
    await fails();
    now += DAY;
    await fails();
    now += MINUTE;
    const seen = await Promise.all([stored(), stored(), stored()]);
    await Promise.all(seen.map(webhook => noteSuccess(platform, webhook)));
    now += MINUTE;
    await fails();
    now += 3 * MINUTE;
    await fails();
    expect(await types()).to.deep.equal(["webhook.failing", "webhook.recovered", "webhook.failing"]);
  });

  it("say nothing of a short outage", async () => {
    await fails();
    now += MINUTE;
    await works();
    now += DAY;
    await fails();
    await works();
    expect(await types()).to.be.empty;
  });

  it("say at once that its endpoint is gone", async () => {
    await disableGone(platform, await stored());
    await disableGone(platform, await stored());
    expect(await types()).to.deep.equal(["webhook.disabled"]);
    expect((await alerts())[0]?.details).to.deep.equal({ reason: "the endpoint returned 410 Gone" });
  });

  it("do not say that it recovered when its owner enables it or moves it, but again when it fails", async () => {
    await fails();
    now += 3 * MINUTE;
    await fails();
    await updateWebhook(platform, await stored(), { url: "https://example.org/moved" });
    await works();
    await fails();
    now += 3 * MINUTE;
    await fails();
    expect(await types()).to.deep.equal(["webhook.failing", "webhook.failing"]);
  });

  it("name a destination as what it is", async () => {
    const _id = id.replace("wh_", "ds_");
    await disableGone(platform, { ...(await stored()), _id });
    await Webhooks(platform.mongo).collection.insertOne({ ...(await stored()), _id } as never);
    await disableGone(platform, { ...(await stored()), _id });
    const [alert, ...more] = await Alerts(platform.mongo).find({ "subject.id": _id }).lean();
    expect(more).to.be.empty;
    expect(alert?.message).to.match(/^destination "orders" \(ds_\w+\) was disabled: /);
  });

  it("cost a healthy webhook no request to a store", async () => {
    const webhook = await stored();
    await noteSuccess({ ...platform, mongo: undefined as never }, webhook);
  });
});
