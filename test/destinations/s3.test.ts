import { expect } from "chai";
import { sendTest } from "../../src/deliveries/attempt/send.ts";
import { createDestination, updateDestination } from "../../src/destinations/destinations.ts";
import type { Destination } from "../../src/models/webhook.ts";
import { deliveriesOf, emit, OWNER, webhookOf } from "../deliveries/fixtures.ts";
import { type Bucket, KEYS, openBucket } from "../support/bucket.ts";
import type { TestPlatform } from "../support/platform.ts";
import { until } from "../support/until.ts";
import { type Delivering, startDelivering, subscribeDestination } from "./fixtures.ts";

describe("deliveries to a bucket", () => {
  let delivering: Delivering;
  let platform: TestPlatform;
  let bucket: Bucket;

  beforeEach(async () => {
    bucket = await openBucket();
    delivering = await startDelivering(Array(40).fill("200ms"));
    platform = delivering.platform;
  });
  afterEach(async () => {
    await delivering?.close();
    await bucket?.stop().catch(() => undefined);
  });

  const create = (settings: object = {}) =>
    createDestination(platform, {
      s3: { url: bucket.url, ...KEYS, ...settings },
      ownerId: OWNER,
      userId: OWNER,
    });
  const delivered = (webhookId: string) =>
    until(async () => {
      const all = await deliveriesOf(platform, webhookId);
      return all.length > 0 && all.every(({ state }) => state === "delivered") && all;
    });

  it("puts an event under the day and its ids, signed, with its ids as metadata", async () => {
    const listener = await subscribeDestination(platform, { s3: { url: bucket.url, ...KEYS } });
    const event = await emit(platform, [listener], { hello: "wörld" });
    const [delivery] = await delivered(listener.webhookId);
    const day = new Date(Number.parseInt(event.event_id, 10)).toISOString().slice(0, 10);
    const object = bucket.objects.get(`/bucket/${day}/${event.emitter_id}/${event.event_id}.json`);
    expect(object?.body).to.equal('{"hello":"wörld"}');
    expect(object?.headers).to.include({
      "content-type": "application/json",
      "x-amz-meta-id": delivery?._id,
      "x-amz-meta-event-id": event.event_id,
      "x-amz-meta-emitter-id": event.emitter_id,
      "x-amz-meta-event-name": "",
      "x-amz-meta-attempt": "1",
    });
  });

  it("retries after the store was away, and puts each event once under its own key", async () => {
    const listener = await subscribeDestination(platform, { s3: { url: bucket.url, ...KEYS } });
    await bucket.stop();
    for (const n of [1, 2, 3]) await emit(platform, [listener], { n });
    await until(async () =>
      (await deliveriesOf(platform, listener.webhookId)).every(({ attempts }) => attempts.length > 0),
    );
    await bucket.start();
    const all = await delivered(listener.webhookId);
    expect(all[0]?.attempts[0]?.error).to.match(/^connect: /);
    expect([...bucket.objects.values()].map(({ headers }) => headers["x-amz-meta-id"]).sort()).to.deep.equal(
      all.map(({ _id }) => _id).sort(),
    );
  });

  it("signs any key pattern and any path of the bucket", async () => {
    for (const [settings, path] of [
      [{ key: "a b/(1)!*'/ü+~/{id}" }, /^\/bucket\/a b\/\(1\)!\*'\/ü\+~\/dlv_/],
      [{ url: `${bucket.url}/`, key: "{id}" }, /^\/bucket\/dlv_/],
      [{ url: new URL("/", bucket.url).href, key: "{id}.json" }, /^\/dlv_\w+\.json$/],
    ] as const) {
      const { id } = await create(settings);
      const result = await sendTest(platform, await webhookOf(platform, id));
      expect(result).to.include({ status: 200, error: null });
      expect([...bucket.objects.keys()].at(-1)).to.match(path);
    }
  });

  it("says what the store says to a wrong secret, and never shows the right one", async () => {
    const created = await create({ secret_access_key: "wrong" });
    const { status, error, response } = await sendTest(platform, await webhookOf(platform, created.id));
    expect({ status, error }).to.deep.equal({ status: 403, error: "HTTP status 403" });
    expect(response).to.include("SignatureDoesNotMatch");
    const destination = (await webhookOf(platform, created.id)) as Destination;
    const changed = await updateDestination(platform, destination, {
      s3: { secret_access_key: KEYS.secret_access_key },
    });
    expect((await sendTest(platform, await webhookOf(platform, created.id))).error).to.equal(null);
    const seen = JSON.stringify([created, changed, await webhookOf(platform, created.id)]);
    expect(seen).not.to.include(KEYS.secret_access_key);
  });

  it("asks for the secret again with another url", async () => {
    const { id } = await create();
    const destination = (await webhookOf(platform, id)) as Destination;
    const moved = { s3: { url: "https://elsewhere.example.com/bucket" } };
    const error = await updateDestination(platform, destination, moved).catch(caught => caught);
    expect(error.fields[0]?.path).to.equal("s3.secret_access_key");
  });
});
