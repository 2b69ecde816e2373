import { readFileSync } from "node:fs";
import { expect } from "chai";
import { describeComponent } from "../../src/components/describe.ts";
import { GalleryApp } from "../../src/gallery/schema.ts";
import { readShipped, type Shipped } from "../../src/gallery/shipped.ts";
import { newAjv } from "../../src/lib/schemas.ts";
import type { Sandboxes } from "../../src/sandbox/sandboxes.ts";
import { openTestSandboxes } from "../examples/open-example.ts";
import { bundleOf } from "./open-shipped.ts";

describe("what the build wrote of the gallery", () => {
  let sandboxes: Sandboxes;
  let shipped: Shipped;
  before(async () => {
    sandboxes = await openTestSandboxes();
    shipped = await readShipped();
  });
  after(() => sandboxes?.close());

  it("describes each component as the sandbox does @long", async () => {
    expect(shipped.components.length).to.be.above(5);
    for (const component of shipped.components) {
      const described = await describeComponent(sandboxes, await bundleOf(component));
      const { description, built } = component;
      expect(JSON.parse(JSON.stringify({ ...description, ...built.traits })), component.key).to.deep.equal(
        JSON.parse(JSON.stringify(described)),
      );
    }
  });

  it("has a new version wherever the code of a component, or of a package in it, has changed", () => {
    const path = new URL("../../gallery/versions.json", import.meta.url);
    const versions = shipped.components.map(({ key, description, built }) => [
      key,
      { version: description.version, hash: built.hash },
    ]);
    expect(
      Object.fromEntries(versions),
      "raise the version, also in CHANGELOG.md of the app, and run npm run docs:gallery",
    ).to.deep.equal(JSON.parse(readFileSync(path, "utf8")));
  });

  it("has what a card shows of each app, and a sample of what each source emits", () => {
    const check = newAjv({}).compile(GalleryApp);
    for (const app of shipped.apps) expect([check(app), check.errors], app.key).to.deep.equal([true, null]);
    for (const { key, app, sample, description } of shipped.components) {
      expect(
        shipped.apps.map(one => one.key),
        key,
      ).to.include(app);
      expect(description.type === "action" || sample !== null, key).to.equal(true);
      for (const { name, type, label } of description.props) {
        expect(type === "$.service.db" || label !== undefined, `${key}: ${name} has a label`).to.equal(true);
      }
    }
  });
});
