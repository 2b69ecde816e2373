import { expect } from "chai";
import type { Sandboxes } from "../../src/sandbox/sandboxes.ts";
import { openTestSandboxes } from "../examples/open-example.ts";
import { openSource } from "./open-shipped.ts";

const KEY = "headwater-webhook";
const request = (given: object = {}) => ({
  method: "POST",
  path: "/orders",
  query: { a: "1" },
  headers: {
    "content-type": "application/json",
    "x-delivery": "d-1",
    ...{
      authorization: "Bearer t0ken",
      cookie: "a=b",
      "x-gitlab-token": "t",
      "x-hub-signature-256": "sha256=0",
    },
  },
  body: { id: "o_1", type: "order.created" },
  bodyRaw: "{}",
  url: "http://127.0.0.1/in/x/orders?a=1",
  client_ip: "192.0.2.1",
  ...given,
});

describe("the gallery's webhook", () => {
  let sandboxes: Sandboxes;
  before(async () => {
    sandboxes = await openTestSandboxes();
  });
  after(() => sandboxes?.close());

  it("emits the body of each request, and says what it is", async () => {
    const webhook = await openSource(sandboxes, KEY);
    const { emits } = await webhook.run(request());
    expect(emits.map(one => one.event)).to.deep.equal([{ id: "o_1", type: "order.created" }]);
    expect(emits[0]?.metadata.summary).to.equal("POST /orders order.created");
    expect(await webhook.events(request()), "the same again").to.have.length(1);
  });

  it("emits the whole request without what proves who sends", async () => {
    const webhook = await openSource(sandboxes, KEY, {
      content: "request",
      summary: "{{body.type}} by {{headers.x-delivery}} {{body.none}}",
    });
    const { emits } = await webhook.run(request());
    expect(emits[0]?.event).to.deep.equal({
      method: "POST",
      path: "/orders",
      query: { a: "1" },
      headers: { "content-type": "application/json", "x-delivery": "d-1" },
      body: { id: "o_1", type: "order.created" },
      url: "http://127.0.0.1/in/x/orders",
      client_ip: "192.0.2.1",
    });
    expect(emits[0]?.metadata.summary).to.equal("order.created by d-1 ");
  });

  it("emits a repeated request once: by the path that it is told, else by the id that was verified", async () => {
    const byPath = await openSource(sandboxes, KEY, { id: "headers.x-delivery" });
    expect(await byPath.events(request())).to.have.length(1);
    expect(await byPath.events(request({ body: "again" }))).to.deep.equal([]);
    const verified = await openSource(sandboxes, KEY);
    const event = request({ verified: { preset: "github", id: "gh-1", at: 0 } });
    expect([await verified.events(event), await verified.events(event)].map(one => one.length)).to.deep.equal(
      [1, 0],
    );
  });

  it("keeps the exact bytes of a body that is not text, and leaves out other methods", async () => {
    const webhook = await openSource(sandboxes, KEY);
    const bodyBase64 = Buffer.from([0xff, 0xfe]).toString("base64");
    expect(await webhook.events(request({ body: "\ufffd\ufffd", bodyBase64 }))).to.deep.equal([
      { base64: bodyBase64 },
    ]);
    expect(await webhook.events(request({ method: "HEAD" }))).to.deep.equal([]);
    expect(await webhook.events(request({ method: "GET", body: "" }))).to.deep.equal([]);
  });
});

describe("the gallery's schedule", () => {
  let sandboxes: Sandboxes;
  before(async () => {
    sandboxes = await openTestSandboxes();
  });
  after(() => sandboxes?.close());

  it("emits each moment once, with its content", async () => {
    const schedule = await openSource(sandboxes, "headwater-schedule", { payload: { report: "daily" } });
    const zone = { timezone: "Europe/Berlin", iso8601: { timestamp: "2024-05-01T10:00:00.000+02:00" } };
    const moment = {
      timestamp: Date.UTC(2024, 4, 1, 8) / 1000,
      cron: "0 10 * * *",
      timezone_configured: zone,
    };
    const { emits } = await schedule.run(moment);
    expect(emits.map(one => one.event)).to.deep.equal([
      {
        due_at: "2024-05-01T08:00:00.000Z",
        local: "2024-05-01T10:00:00.000+02:00",
        timezone: "Europe/Berlin",
        payload: { report: "daily" },
      },
    ]);
    expect(emits[0]?.metadata).to.include({
      summary: "2024-05-01T08:00:00.000Z",
      ts: Date.UTC(2024, 4, 1, 8),
    });
    expect(await schedule.events(moment), "reported twice").to.deep.equal([]);
    expect(await schedule.events({}), "run by hand").to.have.length(1);
  });
});
