import { expect } from "chai";
import { Webhooks } from "../../src/models/webhook.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { type Api, openWebhookApi } from "./webhook-api.ts";

const url = "https://example.com/hook";
const NONE = { max_in_flight: null, rate_limit_per_second: null, ordered: false };
const SOME = { max_in_flight: 3, rate_limit_per_second: 50, ordered: true };

describe("pace of a webhook", () => {
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

  const create = (pace: object = {}) => api.call("POST", "/webhooks", { body: { url, ...pace } });
  const put = (id: string, pace: object) => api.call("PUT", `/webhooks/${id}`, { body: pace });
  const stored = (id: string) => Webhooks(platform.mongo).findById(id).lean();

  it("is the installation's unless told, and may be told so", async () => {
    for (const pace of [{}, NONE]) {
      const { body } = await create(pace);
      expect(body.data).to.include(NONE);
      expect(await stored(body.data.id)).to.include(NONE);
    }
  });

  it("is set when the webhook is created, and shown by every route that shows it", async () => {
    const { status, body } = await create(SOME);
    expect(status).to.equal(201);
    expect(body.data).to.include(SOME);
    expect((await api.call("GET", `/webhooks/${body.data.id}`)).body.data).to.include(SOME);
    expect((await api.call("GET", "/users/me/webhooks")).body.data[0]).to.include(SOME);
    expect(await stored(body.data.id)).to.include(SOME);
  });

  it("changes field by field, and null gives it back to the installation", async () => {
    const { id } = (await create(SOME)).body.data;
    expect((await put(id, { max_in_flight: 1 })).body.data).to.include({ ...SOME, max_in_flight: 1 });
    expect((await put(id, { ordered: false })).body.data).to.include({ max_in_flight: 1, ordered: false });
    const nothing = await put(id, { max_in_flight: null, rate_limit_per_second: null });
    expect(nothing.body.data).to.include(NONE);
    expect((await put(id, { name: "renamed" })).body.data).to.include(NONE);
  });

  it("takes the limits of its numbers, and names the field and the limit that was missed", async () => {
    expect((await create({ max_in_flight: 100, rate_limit_per_second: 10_000 })).status).to.equal(201);
    const { id } = (await create({ max_in_flight: 1, rate_limit_per_second: 1 })).body.data;
    for (const [pace, message] of [
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
      for (const answer of [await create(pace), await put(id, pace)]) {
        expect(answer.status, JSON.stringify(pace)).to.equal(400);
        const [error] = answer.body.errors;
        expect(error).to.include({ in: "body", path: Object.keys(pace)[0] });
        expect(error.message).to.match(message);
      }
    }
    expect(await stored(id)).to.include({ max_in_flight: 1, rate_limit_per_second: 1, ordered: false });
  });

  it("is the installation's for a webhook stored before there were such settings", async () => {
    const { id } = (await create(SOME)).body.data;
    const fields = { max_in_flight: 1, rate_limit_per_second: 1, ordered: 1 } as const;
    await Webhooks(platform.mongo).updateOne({ _id: id }, { $unset: fields });
    expect((await api.call("GET", `/webhooks/${id}`)).body.data).to.include(NONE);
  });
});
