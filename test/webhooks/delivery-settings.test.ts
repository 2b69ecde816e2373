import { expect } from "chai";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { Webhooks } from "../../src/models/webhook.ts";
import { timeoutMsOf } from "../../src/webhooks/delivery-settings.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { type Api, openWebhookApi } from "./webhook-api.ts";

const url = "https://example.com/hook";
const NONE = {
  max_in_flight: null,
  rate_limit_per_second: null,
  ordered: false,
  retry_schedule: null,
  timeout_seconds: null,
};
const SOME = { max_in_flight: 3, rate_limit_per_second: 50, ordered: true };

describe("the delivery settings of a webhook", () => {
  let platform: TestPlatform;
  let api: Api;

  before(async () => {
    platform = await openTestPlatform({}, { process: "web" });
    api = await openWebhookApi(platform);
  });
  after(async () => {
    await api.close();
    await platform.destroy();
  });

  const create = (settings: object = {}) => api.call("POST", "/webhooks", { body: { url, ...settings } });
  const put = (id: string, settings: object) => api.call("PUT", `/webhooks/${id}`, { body: settings });
  const stored = (id: string) => Webhooks(platform.mongo).findById(id).lean();

  it("are the server's defaults if they are left out or null", async () => {
    for (const settings of [{}, NONE]) {
      const { body } = await create(settings);
      expect(body.data).to.include(NONE);
      expect(await stored(body.data.id)).to.include(NONE);
    }
  });

  it("are set when the webhook is created, and returned by every route", async () => {
    const { status, body } = await create(SOME);
    expect(status).to.equal(201);
    expect(body.data).to.include(SOME);
    expect((await api.call("GET", `/webhooks/${body.data.id}`)).body.data).to.include(SOME);
    expect((await api.call("GET", "/users/me/webhooks")).body.data[0]).to.include(SOME);
    expect(await stored(body.data.id)).to.include(SOME);
  });

  it("are changed one by one, and null restores the server's default", async () => {
    const { id } = (await create(SOME)).body.data;
    expect((await put(id, { max_in_flight: 1 })).body.data).to.include({ ...SOME, max_in_flight: 1 });
    expect((await put(id, { ordered: false })).body.data).to.include({ max_in_flight: 1, ordered: false });
    const nothing = await put(id, { max_in_flight: null, rate_limit_per_second: null });
    expect(nothing.body.data).to.include(NONE);
    expect((await put(id, { name: "renamed" })).body.data).to.include(NONE);
  });

  it("are rejected outside of their limits, with the name and the limit", async () => {
    expect((await create({ max_in_flight: 100, rate_limit_per_second: 10_000 })).status).to.equal(201);
    const { id } = (await create({ max_in_flight: 1, rate_limit_per_second: 1 })).body.data;
    for (const [settings, message] of [
      [{ max_in_flight: 0 }, /1/],
      [{ max_in_flight: 101 }, /100/],
      [{ max_in_flight: 1.5 }, /integer/],
      [{ max_in_flight: "3" }, /integer/],
      [{ rate_limit_per_second: 0 }, /1/],
      [{ rate_limit_per_second: 10_001 }, /10000/],
      [{ rate_limit_per_second: true }, /integer/],
      [{ ordered: null }, /boolean/],
      [{ ordered: "yes" }, /boolean/],
      [{ timeout_seconds: 0 }, /1/],
      [{ timeout_seconds: 61 }, /60/],
      [{ timeout_seconds: 1.5 }, /integer/],
      [{ retry_schedule: "5s" }, /array/],
      [{ retry_schedule: Array(LIMITS.retryWaits.value + 1).fill("5s") }, /20/],
      [{ retry_schedule: ["4d", "3d", "1s"] }, /7d/],
    ] as const) {
      for (const response of [await create(settings), await put(id, settings)]) {
        expect(response.status, JSON.stringify(settings)).to.equal(400);
        const [error] = response.body.errors;
        expect(error).to.include({ in: "body", path: Object.keys(settings)[0] });
        expect(error.message).to.match(message);
      }
    }
    expect(await stored(id)).to.include({ max_in_flight: 1, rate_limit_per_second: 1, ordered: false });
  });

  it("have a retry schedule, whose waits are named by their place", async () => {
    const longest = [`${LIMITS.retryScheduleMs.value - 1000}ms`, "1s"];
    const { id } = (await create({ retry_schedule: longest, timeout_seconds: 60 })).body.data;
    expect((await api.call("GET", `/webhooks/${id}`)).body.data).to.deep.include({
      retry_schedule: longest,
      timeout_seconds: 60,
    });
    for (const waits of [Array(LIMITS.retryWaits.value).fill("5s"), [], ["1000ms", "1m", "1h"]]) {
      expect((await put(id, { retry_schedule: waits })).body.data.retry_schedule).to.deep.equal(waits);
    }
    for (const [second, message] of [
      [`${LIMITS.retryWaitMs.value - 1}ms`, /at least 1s/],
      ["0h", /at least 1s/],
      ["5", /must be a duration/],
      ["5 s", /must be a duration/],
      ["-5s", /must be a duration/],
      ["999999999999d", /12/],
      [5, /string/],
    ] as const) {
      const { status, body } = await put(id, { retry_schedule: ["5s", second] });
      expect(status, String(second)).to.equal(400);
      expect(body.errors[0]).to.include({ in: "body", path: "retry_schedule.1" });
      expect(body.errors[0].message).to.match(message);
    }
    const after = await stored(id);
    expect(after?.retry_schedule).to.deep.equal(["1000ms", "1m", "1h"]);
    expect((await put(id, { retry_schedule: null })).body.data.retry_schedule).to.equal(null);
  });

  it("have no time-out above the installation's, and one that was lowered since cuts it", async () => {
    const strict = await openTestPlatform({ TIMEOUTS: "attempt:5s,longest-attempt:20s" }, { process: "web" });
    const own = await openWebhookApi(strict);
    try {
      const call = (timeout_seconds: number) =>
        own.call("POST", "/webhooks", { body: { url, timeout_seconds } });
      expect((await call(20)).status).to.equal(201);
      const { status, body } = await call(21);
      expect(status).to.equal(400);
      expect(body.errors[0]).to.include({ path: "timeout_seconds" });
      expect(body.errors[0].message).to.match(/at most 20.*longest-attempt/);
      expect(timeoutMsOf(strict.config, { timeout_seconds: 60 })).to.equal(20_000);
      expect(timeoutMsOf(strict.config, { timeout_seconds: 1 })).to.equal(1000);
      for (const none of [{}, { timeout_seconds: null }]) {
        expect(timeoutMsOf(strict.config, none)).to.equal(5000);
      }
    } finally {
      await own.close();
      await strict.destroy();
    }
  });

  it("are those of destinations too", async () => {
    const settings = { retry_schedule: ["2s"], timeout_seconds: 7 };
    const redis_stream = { url: "redis://example.com:6379", stream: "orders" };
    const { body } = await api.call("POST", "/destinations", { body: { redis_stream, ...settings } });
    expect(body.data).to.deep.include(settings);
    const changed = await api.call("PUT", `/destinations/${body.data.id}`, {
      body: { retry_schedule: null, timeout_seconds: 8 },
    });
    expect(changed.body.data).to.deep.include({ retry_schedule: null, timeout_seconds: 8 });
    const wrong = await api.call("PUT", `/destinations/${body.data.id}`, {
      body: { retry_schedule: ["1ms"] },
    });
    expect(wrong.body.errors[0]).to.include({ in: "body", path: "retry_schedule.0" });
  });

  it("are the server's defaults for a webhook that was stored before they existed", async () => {
    const { id } = (await create(SOME)).body.data;
    const fields = {
      max_in_flight: 1,
      rate_limit_per_second: 1,
      ordered: 1,
      retry_schedule: 1,
      timeout_seconds: 1,
    } as const;
    await Webhooks(platform.mongo).updateOne({ _id: id }, { $unset: fields });
    expect((await api.call("GET", `/webhooks/${id}`)).body.data).to.include(NONE);
  });
});
