import { expect } from "chai";
import { publishComponent, unpublishComponent } from "../../src/components/components.ts";
import { readFiles, storedBundle } from "../../src/components/stored-bundle.ts";
import { publishGallery } from "../../src/gallery/publish-gallery.ts";
import { readShipped, type Shipped, type ShippedComponent } from "../../src/gallery/shipped.ts";
import { type Component, Components, GALLERY_OWNER } from "../../src/models/component.ts";
import { textOf } from "../components/text-of.ts";
import type { Api } from "../support/api.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";
import { shipped } from "./open-shipped.ts";

const FEED = "headwater-feed";

/** A release whose only component is another version of this one. */
const releaseOf = ({ description, built, ...component }: ShippedComponent, version: string): Shipped => ({
  apps: [],
  components: [
    {
      ...component,
      description: { ...description, version },
      built: { ...built, hash: `${version}-${built.hash}`.slice(0, 64) },
    },
  ],
});

describe("the gallery at a start", () => {
  let system: System;
  let api: Api;
  let release: Shipped;
  before(async () => {
    system = await startSystem();
    api = await system.user();
    release = await readShipped();
  });
  beforeEach(() => Components(system.web.mongo).deleteMany({}));
  after(() => system.stop());

  const publish = (of: Shipped = release) => publishGallery(system.web, of);
  const rows = (filter = {}) =>
    Components(system.web.mongo)
      .find({ owner_id: GALLERY_OWNER, ...filter })
      .sort({ _id: 1 })
      .lean<Component[]>();
  const entry = () => api.expect(200, "GET", `/gallery/${FEED}`);

  it("publishes what it does not have, once, also if several processes start at the same time", async () => {
    const counts = await Promise.all([publish(), publish(), publish(), publish()]);
    expect(counts.reduce((sum, count) => sum + count, 0)).to.equal(release.components.length);
    const stored = await rows();
    expect(stored.map(({ key }) => key).sort()).to.deep.equal(
      release.components.map(({ key }) => key).sort(),
    );
    expect(stored.every(({ published }) => published)).to.equal(true);
    expect(await publish()).to.equal(0);
  });

  it("takes less than 100 ms when nothing has changed", async () => {
    await publish();
    const durations = [];
    for (let n = 0; n < 3; n++) {
      const started = performance.now();
      await publish();
      durations.push(performance.now() - started);
    }
    expect(Math.min(...durations)).to.be.below(100);
  });

  it("stores code, files and bundle as those of any component", async () => {
    await publish();
    for (const component of await rows()) {
      const text = await textOf(system.web, component.bundle_hash);
      expect(storedBundle(system.web, component.bundle_hash).hash).to.equal(component.bundle_hash);
      expect(text, component.key ?? "").to.include("own:");
      const { files, entry } = await readFiles(system.web, component);
      expect(entry === null ? component.code : files?.[entry]).to.equal(component.code);
    }
    const { files } = await api.expect(200, "GET", `/components/${FEED}/files`);
    expect(JSON.parse(files["package.json"]).dependencies).to.have.keys("rss-parser");
  });

  it("leaves a key to who has published it, and what an operator unpublished as it is, in later versions too", async () => {
    const user = await system.user();
    const component_code = `export default { key: "${FEED}", name: "Mine", version: "1", run() {} };`;
    const mine = await user.expect(201, "POST", "/components", { body: { component_code } });
    await publishComponent(system.worker, mine.id);
    await publish();
    expect(await rows({ key: FEED })).to.deep.equal([]);
    expect((await entry()).component_id).to.equal(null);
    await unpublishComponent(system.worker, mine.id);
    await publish();
    const [feed] = await rows({ key: FEED });
    expect((await entry()).component_id).to.equal(feed?._id);
    await unpublishComponent(system.worker, feed?._id ?? "");
    await publish(releaseOf(await shipped(FEED), "1.1.0"));
    expect((await rows({ key: FEED })).map(({ published }) => published)).to.deep.equal([false, false]);
  });

  it("keeps a replaced version while something uses it, and deletes it a month later", async () => {
    await publish();
    const [schedule] = await rows({ key: "headwater-schedule" });
    const source = await api.createSource({ component_id: schedule?._id });
    const inDays = (days: number) => ({ ...system.web, clock: () => Date.now() + 86_400_000 * days });
    const next = releaseOf(await shipped(FEED), "1.1.0");
    await publishGallery(inDays(29), next);
    expect(await rows()).to.have.length(release.components.length + 1);
    await publishGallery(inDays(31), next);
    expect((await rows()).map(({ key }) => key).sort()).to.deep.equal([FEED, "headwater-schedule"]);
    await api.expect(204, "DELETE", `/sources/${source.id}`);
    // A worker ends the source first.
    await until(async () => {
      await publishGallery(inDays(31), next);
      return (await rows()).length === 1;
    });
    expect((await rows()).map(({ version }) => version)).to.deep.equal(["1.1.0"]);
  });

  it("is deployed by its id or key; a later version keeps secrets, and another component does not", async () => {
    await publish();
    const key = "headwater-http-poll";
    const poll = await shipped(key);
    const [first] = await rows({ key });
    const configured_props = { url: "http://127.0.0.1:1/", authorization: "Bearer t0ken" };
    const body = {
      component_code: `export default { name: "Poll", version: "1",
      props: { url: "string", authorization: { type: "string", secret: true } }, run() {} };`,
      configured_props,
    };
    const source = await api.createSource(body);
    const edited = (component_id: string) =>
      api.expect(200, "PUT", `/sources/${source.id}`, { body: { component_id, active: false } });
    // The hook of the gallery's poll would ask the address.
    await Components(system.web.mongo).updateMany({ key }, { $set: { "description.hooks": [] } });
    const replaced = await edited(first?._id ?? "");
    expect(replaced.secrets_removed).to.deep.equal(["authorization"]);
    await api.expect(200, "PUT", `/sources/${source.id}`, { body: { configured_props, active: false } });
    await publish(releaseOf(poll, "1.1.0"));
    const second = (await rows({ key })).at(-1);
    const updated = await edited(second?._id ?? "");
    expect(updated).to.deep.include({ component_id: second?._id, secrets_removed: [] });
    expect((await api.expect(200, "GET", `/sources/${source.id}`)).secrets_set).to.deep.equal([
      "authorization",
    ]);
    expect((await api.expect(200, "GET", `/components/${key}`)).id).to.equal(second?._id);
  });

  it("can't be changed by a user", async () => {
    await publish();
    const [feed] = await rows({ key: FEED });
    await api.expect(404, "DELETE", `/components/${feed?._id}`);
  });
});
