import { expect } from "chai";
import { type System, startSystem } from "../support/system.ts";

const CODE = `export default { name: "Mine", version: "0.0.1", key: "mine", props: { http: "$.interface.http" },
  run(e) { this.$emit(e); } };`;

describe("two users", () => {
  let system: System;
  before(async () => {
    system = await startSystem();
  });
  after(() => system.stop());

  it("can't see, use or change anything of each other", async () => {
    const [anna, bert] = [await system.user(), await system.user()];
    const component = await anna.expect(201, "POST", "/components", { body: { component_code: CODE } });
    const source = await anna.createSource({ component_id: component.id });
    const webhook = await anna.createWebhook("https://example.com/hook");
    const mine = await bert.createWebhook("https://example.com/hook");

    const attempts: [string, string, object?][] = [
      ["GET", `/components/${component.id}`],
      ["GET", "/components/mine"],
      ["GET", `/sources/${source.id}`],
      ["GET", `/sources/${source.name_slug}`],
      ["GET", `/sources/${source.id}/event_summaries`],
      ["GET", `/sources/${source.id}/$errors/event_summaries`],
      ["DELETE", `/sources/${source.id}/events`],
      ["PUT", `/sources/${source.id}`, { body: { name: "taken" } }],
      ["DELETE", `/sources/${source.id}`],
      ["POST", "/sources", { body: { component_id: component.id } }],
      ["POST", "/subscriptions", { query: { emitter_id: source.id, listener_id: mine.id } }],
      ["POST", "/subscriptions", { query: { emitter_id: "dc_*", listener_id: webhook.id } }],
      ["POST", "/auto_subscriptions", { query: { event_name: "$errors", listener_id: webhook.id } }],
      ["GET", `/webhooks/${webhook.id}`],
      ["DELETE", `/webhooks/${webhook.id}`],
    ];
    for (const [method, path, options] of attempts) {
      const response = await bert.request(method, path, options);
      expect(response.status, `${method} ${path}: ${response.text}`).to.equal(404);
    }
    for (const list of ["/users/me/sources", "/users/me/subscriptions"]) {
      expect((await bert.request("GET", list)).body.data, list).to.deep.equal([]);
    }
    expect(await anna.expect(200, "GET", `/sources/${source.id}`)).to.include({ name: "mine", active: true });
  });

  it("share what an organization of both owns", async () => {
    const [anna, bert, carla] = [await system.user(), await system.user(), await system.user()];
    const org = await system.organization(anna.userId);
    const { addMember } = await import("../../src/accounts/organizations.ts");
    await addMember(system.worker, org, bert.userId);
    const source = await anna.createSource({ component_code: CODE }, { org_id: org });

    expect(await bert.expect(200, "GET", `/sources/${source.id}`)).to.include({ id: source.id });
    expect((await bert.request("GET", `/orgs/${org}/sources`)).body.data[0].id).to.equal(source.id);
    expect((await bert.request("GET", "/users/me/sources")).body.data).to.deep.equal([]);
    expect((await carla.request("GET", `/orgs/${org}/sources`)).status).to.equal(404);
    expect((await carla.request("GET", `/sources/${source.id}`)).status).to.equal(404);
    expect(
      (await carla.request("POST", "/sources", { body: { component_code: CODE }, query: { org_id: org } }))
        .status,
    ).to.equal(404);
  });
});
