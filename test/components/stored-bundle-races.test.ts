// runs-long: npm test has test/components/stored-bundle.test.ts, where packages are saved and deleted at the same time
import { expect } from "chai";
import { deleteComponent } from "../../src/components/components.ts";
import { saveComponent } from "../../src/components/save.ts";
import { newId } from "../../src/lib/ids.ts";
import { Bundles, type Component } from "../../src/models/component.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { textOf } from "./text-of.ts";

const code = (name: string) =>
  `export default { name: ${JSON.stringify(name)}, version: "0.0.1", run() {} };`;

describe("bundles of several accounts", () => {
  let platform: TestPlatform;
  before(async () => {
    platform = await openTestPlatform({}, { process: "web" });
  });
  after(() => platform.destroy());

  const saver = () => ({ ownerId: newId("u"), userId: "u" });
  const stored = (hash: string) => Bundles(platform.mongo).findById(hash).lean();

  it("are there as long as a component has them, whatever is saved and deleted at the same time", async function () {
    this.timeout(120_000);
    const text = code("Common");
    const save = () => saveComponent(platform, saver(), { component_code: text });
    let components: Component[] = await Promise.all([save(), save(), save(), save()]);
    const hash = components[0]?.bundle_hash ?? "";
    for (let round = 0; round < 5; round += 1) {
      const [kept, ...others] = await Promise.all([
        save(),
        save(),
        ...components.map(one => deleteComponent(platform, one).then(() => undefined)),
      ]);
      expect(await textOf(platform, hash)).to.include('"Common"');
      components = [kept, ...others].filter(one => one !== undefined);
    }
    await Promise.all(components.map(one => deleteComponent(platform, one)));
    expect(await stored(hash)).to.equal(null);
  });

  it("are deleted by whichever of two deletions is the last", async function () {
    this.timeout(120_000);
    for (let round = 0; round < 5; round += 1) {
      const text = code(`Last ${round}`);
      const components = [];
      for (let n = 0; n < 4; n += 1)
        components.push(await saveComponent(platform, saver(), { component_code: text }));
      await Promise.all(components.map(one => deleteComponent(platform, one)));
      expect(await stored(components[0]?.bundle_hash ?? "")).to.equal(null);
    }
  });
});
