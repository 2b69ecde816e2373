import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { deleteComponent } from "../../src/components/components.ts";
import { fromFile } from "../../src/components/load-modules.ts";
import { saveComponent, saveModules } from "../../src/components/save.ts";
import { newId } from "../../src/lib/ids.ts";
import { BundleChunks, BundleParts, Bundles, type Component } from "../../src/models/component.ts";
import type { Migration } from "../../src/store/schema/migration.ts";
import { packedBundles } from "../../src/store/schema/migrations/0011-packed-bundles.ts";
import { bundlesInParts } from "../../src/store/schema/migrations/0015-bundles-in-parts.ts";
import { type NpmRegistry, startNpmRegistry } from "../support/npm-registry.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { textOf } from "./text-of.ts";

const code = (name: string) =>
  `export default { name: ${JSON.stringify(name)}, version: "0.0.1", run() {} };`;

describe("stored bundles", () => {
  let platform: TestPlatform;
  before(async () => {
    platform = await openTestPlatform({}, { process: "web" });
  });
  after(() => platform.destroy());

  const saver = () => ({ ownerId: newId("u"), userId: "u" });
  /** Does something as it is done before a migration, while processes of earlier releases may run. */
  async function asBefore<T>({ number }: Migration, work: () => Promise<T>): Promise<T> {
    const schema = platform.mongo.collection<{ _id: string; applied: number[] }>("schema");
    await schema.updateOne({ _id: "state" }, { $pull: { applied: number } });
    try {
      return await work();
    } finally {
      await schema.updateOne({ _id: "state" }, { $push: { applied: number } });
    }
  }
  const stored = (hash: string) => Bundles(platform.mongo).findById(hash).lean();

  it("are packed", async () => {
    const { bundle_hash } = await saveComponent(platform, saver(), {
      component_code: code("Packed"),
    });
    const found = await stored(bundle_hash);
    expect(found).to.have.property("packed");
    expect(found).to.include({ chunks: 0 });
    expect(found).not.to.have.property("code");
    expect(await textOf(platform, bundle_hash)).to.include('"Packed"');
  });

  it("are divided beyond what a document holds, and come together and go together @long", async function () {
    this.timeout(120_000);
    const folder = await mkdtemp(join(tmpdir(), "large-component-"));
    try {
      // Five files of what can't be packed well.
      const names = ["a", "b", "c", "d", "e"];
      const random = () => randomBytes(720_000).toString("base64");
      for (const name of names)
        await writeFile(join(folder, `${name}.mjs`), `export const ${name} = "${random()}";`);
      const imports = names.map(name => `import { ${name} } from "./${name}.mjs";`).join("\n");
      const entry = join(folder, "entry.mjs");
      const text = `${imports}\nexport default { name: "Large", version: "0.0.1", data: [${names}], run() {} };`;
      await writeFile(entry, text);
      const component = await asBefore(bundlesInParts, () =>
        saveModules(platform, saver(), fromFile(entry), null),
      );
      const found = await stored(component.bundle_hash);
      expect(found?.chunks).to.be.at.least(1);
      expect(await BundleChunks(platform.mongo).countDocuments()).to.equal(found?.chunks);
      expect(await textOf(platform, component.bundle_hash)).to.include('name: "Large"');
      await deleteComponent(platform, component);
      expect(await BundleChunks(platform.mongo).countDocuments()).to.equal(0);
      expect(await stored(component.bundle_hash)).to.equal(null);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it("are read as earlier releases stored them", async () => {
    await Bundles(platform.mongo).insertOne({ _id: "earlier", code: "export default 1" });
    expect(await textOf(platform, "earlier")).to.equal("export default 1");
  });

  it("are stored as earlier releases read them, while processes of such may run", async () => {
    const text = code("Plain");
    const { bundle_hash } = await asBefore(bundlesInParts, () =>
      asBefore(packedBundles, () => saveComponent(platform, saver(), { component_code: text })),
    );
    expect((await stored(bundle_hash))?.code).to.include('"Plain"');
  });

  it("that are damaged are never given to a sandbox", async () => {
    const { bundle_hash } = await saveComponent(platform, saver(), { component_code: code("Whole") });
    const other = await saveComponent(platform, saver(), { component_code: code("Other") });
    const packed = (await stored(other.bundle_hash))?.packed;
    await Bundles(platform.mongo).updateOne({ _id: bundle_hash }, { $set: { packed } });
    const error = await textOf(platform, bundle_hash).catch((error: Error) => error);
    expect(error).to.be.an("error").with.property("message").that.includes("damaged");
  });

  describe("of components with equal packages", () => {
    let registry: NpmRegistry;
    const parts = () => BundleParts(platform.mongo).find({}, { data: 0 }).lean();
    const save = (name: string) => {
      const { npmEnvironment, cacheDir } = {
        npmEnvironment: registry.environment,
        cacheDir: registry.cacheDir,
      };
      const withPackages = { ...platform, config: { ...platform.config, npmEnvironment, cacheDir } };
      const text = `import first from "holds-much"; import second from "holds-more";
export default { name: "${name}", version: "0.0.1", run() { this.$emit([first, second]); } };`;
      return saveComponent(withPackages, saver(), { component_code: text });
    };
    before(async () => {
      const much = (name: string) => ({
        manifest: { name, version: "1.0.0", main: "index.js" },
        files: { "index.js": `module.exports = "${randomBytes(90_000).toString("base64")}";` },
      });
      registry = await startNpmRegistry([much("holds-much"), much("holds-more")]);
    });
    after(() => registry.close());

    it("have the text of the packages once, as long as one of them has it", async function () {
      this.timeout(120_000);
      const one = await save("One");
      const of = async (component: Component) => (await stored(component.bundle_hash))?.parts ?? [];
      const ofOne = await of(one);
      expect(await parts()).to.have.lengthOf(ofOne.length);
      const two = await save("Two");
      const ofTwo = await of(two);
      const common = ofTwo.filter(part => ofOne.includes(part));
      expect(common).to.have.lengthOf.at.least(2);
      expect((await parts()).filter(({ bundles }) => bundles === 2)).to.have.lengthOf(common.length);
      for (const [component, name] of [
        [one, "One"],
        [two, "Two"],
      ] as const)
        expect(await textOf(platform, component.bundle_hash)).to.include(`name: "${name}"`);
      await deleteComponent(platform, one);
      expect((await parts()).map(({ _id }) => _id)).to.have.members(ofTwo);
      expect(await textOf(platform, two.bundle_hash)).to.include('name: "Two"');
      await deleteComponent(platform, two);
      expect(await parts()).to.deep.equal([]);
    });

    it("are whole, whatever is saved and deleted at the same time @long", async function () {
      this.timeout(120_000);
      let components: Component[] = [await save("0-0")];
      for (let round = 1; round < 5; round += 1) {
        const saved = Promise.all([0, 1, 2].map(n => save(`${round}-${n}`)));
        await Promise.all(components.map(one => deleteComponent(platform, one)));
        components = await saved;
        for (const { name, bundle_hash } of components)
          expect(await textOf(platform, bundle_hash)).to.include(`name: "${name}"`);
      }
      await Promise.all(components.map(one => deleteComponent(platform, one)));
      expect(await parts()).to.deep.equal([]);
    });
  });
});
