import { expect } from "chai";
import { routes } from "../../src/app.ts";
import type { Api } from "../support/api.ts";
import { startReceiver } from "../support/receiver.ts";
import { type System, startSystem } from "../support/system.ts";

const CODE = `export default { name: "Listed", version: "0.0.1", run() {} };`;

/** Lists of the caller's own things, and the path at which one is created. */
const SHORT = [
  "sources",
  "webhooks",
  "subscriptions",
  "auto_subscriptions",
  "destinations",
  "connections",
  "workflows",
];

describe("the path at which a thing is created", () => {
  let system: System;
  let api: Api;
  before(async () => {
    system = await startSystem();
    api = await system.user();
    const receiver = await startReceiver(200);
    const source = await api.createSource({ component_code: CODE });
    await api.subscribe(source.id, (await api.createWebhook(receiver.url)).id);
    await receiver.close();
  });
  after(() => system.stop());

  for (const name of SHORT) {
    it(`lists the caller's own: GET /${name}`, async () => {
      const long = await api.request("GET", `/users/me/${name}`);
      const short = await api.request("GET", `/${name}`);
      expect(short.status).to.equal(200);
      expect(short.body).to.deep.equal(long.body);
      expect((await api.request("GET", `/${name}/?limit=0`)).status).to.equal(400);
    });
  }

  it("lists what has been created", async () => {
    for (const name of ["sources", "webhooks", "subscriptions"]) {
      expect((await api.request("GET", `/${name}`)).body.data, name).to.have.length(1);
    }
  });

  it("needs an API key, and still rejects other methods with those that it has", async () => {
    expect((await fetch(`${system.baseUrl}/webhooks`)).status).to.equal(401);
    const response = await fetch(`${system.baseUrl}/webhooks`, { method: "PATCH" });
    expect(response.status).to.equal(405);
    expect(response.headers.get("allow")).to.include("GET").and.include("POST");
  });

  it("is listed for every kind of thing that an account has and creates", () => {
    const posted = routes.filter(({ method }) => method === "POST").map(({ path }) => path);
    const listed = routes.filter(
      ({ method, path, response }) =>
        method === "GET" && path.startsWith("/users/me/") && /list|page/.test(response.kind),
    );
    const short = listed
      .map(({ path }) => path.slice("/users/me".length))
      .filter(path => posted.includes(path));
    expect(short.map(path => path.slice(1))).to.have.members(SHORT);
  });
});
