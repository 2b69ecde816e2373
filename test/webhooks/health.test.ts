import { expect } from "chai";
import { type Webhook, Webhooks } from "../../src/models/webhook.ts";
import { disableGone, noteFailure, noteSuccess } from "../../src/webhooks/health.ts";
import { createWebhook, updateWebhook } from "../../src/webhooks/webhooks.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { type Api, CALLERS, openWebhookApi } from "./webhook-api.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const START = Date.UTC(2026, 10, 2, 3, 4, 5);

describe("the health of a webhook", () => {
  let now = START;
  let platform: TestPlatform;
  let api: Api;
  let id: string;

  before(async () => {
    platform = await openTestPlatform({}, { process: "web", clock: () => now });
    api = await openWebhookApi(platform);
  });
  after(async () => {
    await api.close();
    await platform.destroy();
  });
  beforeEach(async () => {
    now = START;
    const ownerId = CALLERS.ann?.userId ?? "";
    ({ id } = await createWebhook(platform, { ownerId, userId: ownerId, url: "https://example.com/hook" }));
  });

  const stored = async (): Promise<Webhook> => {
    const found = await Webhooks(platform.mongo).findById(id).lean<Webhook | null>();
    if (!found) throw new Error("no webhook");
    return found;
  };
  const fails = async () => noteFailure(platform, await stored());
  const works = async () => noteSuccess(platform, await stored());
  const shown = async () => {
    const one = (await api.call("GET", `/webhooks/${id}`)).body.data;
    const listed = (await api.call("GET", "/users/me/webhooks?limit=100")).body.data;
    expect(listed).to.deep.include(one);
    return one;
  };

  it("has no warning while the webhook works", async () => {
    await works();
    expect(await shown()).to.include({
      active: true,
      failing_since: null,
      will_be_disabled_at: null,
      notice: null,
      disabled_reason: null,
    });
  });

  it("shows since when the webhook has failed and when it will be disabled, from the first failure on", async () => {
    await fails();
    now += 10 * HOUR;
    await fails();
    expect(await shown()).to.include({
      active: true,
      failing_since: START / 1000,
      will_be_disabled_at: (START + 5 * DAY) / 1000,
      notice: null,
    });
  });

  it("shows a notice after half of the time, and disables the webhook after all of it", async () => {
    await fails();
    now = START + 2.5 * DAY - 1;
    await fails();
    expect((await shown()).notice).to.equal(null);
    now += 1;
    expect(await shown()).to.include({
      active: true,
      notice:
        "every attempt has failed since 2026-11-02T03:04:05.000Z; a failure after 2026-11-07T03:04:05.000Z disables this webhook",
    });
    now = START + 5 * DAY - 1;
    await fails();
    expect(await shown()).to.include({ active: true, disabled_reason: null });
    now += 1;
    await fails();
    expect(await shown()).to.include({
      active: false,
      disabled_reason: "every attempt has failed since 2026-11-02T03:04:05.000Z",
      failing_since: START / 1000,
      will_be_disabled_at: null,
      notice: null,
    });
  });

  it("disables the webhook neither for many failures in a short time, nor without a further failure", async () => {
    for (let i = 0; i < 50; i++) {
      now += 1000;
      await fails();
    }
    expect((await shown()).active).to.equal(true);
    now += 30 * DAY;
    const late = await shown();
    expect(late.active).to.equal(true);
    expect(late.notice).to.match(/a failure after .* disables this webhook/);
  });

  it("is reset by one success, however late", async () => {
    await fails();
    now += 5 * DAY - 1;
    await works();
    expect(await shown()).to.include({ failing_since: null, will_be_disabled_at: null, notice: null });
    now += 1;
    await fails();
    now += DAY;
    await fails();
    expect(await shown()).to.include({ active: true, failing_since: (START + 5 * DAY) / 1000, notice: null });
  });

  it("does not disable the webhook if a success came after the failing attempt had read it", async () => {
    await fails();
    now += 6 * DAY;
    const readBefore = await stored();
    await works();
    await noteFailure(platform, readBefore);
    expect(await shown()).to.include({ active: true, disabled_reason: null });
  });

  it("does not count a failure of the old url for a new one", async () => {
    const old = await stored();
    await updateWebhook(platform, old, { url: "https://example.org/moved" });
    await noteFailure(platform, old);
    await disableGone(platform, old);
    expect(await shown()).to.include({ active: true, failing_since: null, disabled_reason: null });
  });

  it("disables the webhook at once if its endpoint is gone; enabling it clears notice and reason", async () => {
    await fails();
    now += 3 * DAY;
    await disableGone(platform, await stored());
    expect(await shown()).to.include({
      active: false,
      disabled_reason: "the endpoint returned 410 Gone",
      will_be_disabled_at: null,
      notice: null,
    });
    await api.call("PUT", `/webhooks/${id}`, { body: { active: true } });
    expect(await shown()).to.include({
      active: true,
      disabled_reason: null,
      failing_since: null,
      notice: null,
    });
  });

  it("allows failures for as long as the configuration says", async () => {
    const deliveries = { ...platform.config.deliveries, disableAfterMs: 10 * DAY };
    const patient = { ...platform, config: { ...platform.config, deliveries } };
    await fails();
    now += 10 * DAY - 1;
    await noteFailure(patient, await stored());
    expect((await stored()).active).to.equal(true);
    now += 1;
    await noteFailure(patient, await stored());
    expect((await stored()).active).to.equal(false);
  });
});
