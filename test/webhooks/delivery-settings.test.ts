import { expect } from "chai";
import { Webhooks } from "../../src/models/webhook.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { type Api, openWebhookApi } from "./webhook-api.ts";

const url = "https://example.com/hook";
const NONE = { max_in_flight: null, rate_limit_per_second: null, ordered: false };
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

  it("are the server's defaults for a webhook that was stored before they existed", async () => {
    const { id } = (await create(SOME)).body.data;
    const fields = { max_in_flight: 1, rate_limit_per_second: 1, ordered: 1 } as const;
    await Webhooks(platform.mongo).updateOne({ _id: id }, { $unset: fields });
    expect((await api.call("GET", `/webhooks/${id}`)).body.data).to.include(NONE);
  });
});
