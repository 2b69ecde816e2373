import { expect } from "chai";
import { publishGallery } from "../../src/gallery/publish-gallery.ts";
import type { GalleryCard } from "../../src/gallery/schema.ts";
import { readShipped } from "../../src/gallery/shipped.ts";
import type { Api } from "../support/api.ts";
import { type System, startSystem } from "../support/system.ts";

describe("GET /gallery", () => {
  let system: System;
  let api: Api;
  before(async () => {
    system = await startSystem();
    api = await system.user();
  });
  after(() => system.stop());

  const keys = async (query: Record<string, string> = {}) => {
    const { components } = await api.expect(200, "GET", "/gallery", { query });
    return components.map(({ key }: GalleryCard) => key);
  };

  it("lists what the release has before it is published, then with the ids to deploy", async () => {
    const before = await api.expect(200, "GET", "/gallery");
    expect(before.components.map((one: GalleryCard) => one.component_id)).to.have.members(
      before.components.map(() => null),
    );
    await publishGallery(system.web, await readShipped());
    const { components, categories } = await api.expect(200, "GET", "/gallery");
    expect(components[0]).to.deep.include({ key: "headwater-webhook", type: "source", name: "Webhook" });
    expect(components[0].app).to.deep.include({
      key: "webhook",
      account: { kind: "none", needs: null, where: null },
    });
    expect(categories).to.include.members(["generic", "messaging"]);
    for (const { component_id, version } of components) {
      expect((await api.expect(200, "GET", `/components/${component_id}`)).version).to.equal(version);
    }
  });

  it("is narrowed by a text, a category, what an account needs, and the type", async () => {
    expect(await keys({ q: "JSON FEEDS" })).to.deep.equal(["headwater-feed"]);
    expect(await keys({ q: "slack" })).to.deep.equal(["headwater-slack-events", "headwater-slack-message"]);
    expect(await keys({ category: "payments" })).to.deep.equal(["headwater-stripe-events"]);
    expect(await keys({ type: "action", account: "none" })).to.deep.equal(["headwater-http-request"]);
    expect(await keys({ q: "nothing like this" })).to.deep.equal([]);
    await api.expect(400, "GET", "/gallery", { query: { category: "weather" } });
  });

  it("shows one with its props, a sample and its changes", async () => {
    const entry = await api.expect(200, "GET", "/gallery/headwater-feed");
    expect(entry.configurable_props.map(({ name }: { name: string }) => name)).to.include.members([
      "urls",
      "timer",
    ]);
    expect(entry.sample).to.include({ title: "An entry" });
    expect(entry.packages).to.deep.equal({ "rss-parser": "3.13.0" });
    expect(entry.changelog.at(-1)).to.deep.equal({ version: "1.0.0", date: "2026-11-28", changes: ["New."] });
    await api.expect(404, "GET", "/gallery/headwater-nothing");
  });

  it("is empty if the operator turned it off", async () => {
    const off = await startSystem({ GALLERY: "off" }, { workers: false });
    try {
      const user = await off.user();
      expect(await user.expect(200, "GET", "/gallery")).to.deep.equal({ components: [], categories: [] });
      await user.expect(404, "GET", "/gallery/headwater-feed");
    } finally {
      await off.stop();
    }
  });
});
