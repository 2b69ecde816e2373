import { createHash } from "node:crypto";
import { expect } from "chai";
import {
  deleteComponent,
  findComponent,
  findOwnComponent,
  findPublished,
  publishComponent,
} from "../../src/components/components.ts";
import { saveComponent } from "../../src/components/save.ts";
import { newId } from "../../src/lib/ids.ts";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { Bundles, Components } from "../../src/models/component.ts";
import { storeSource } from "../sources/source-row.ts";
import { fixturePackages } from "../support/fixture-packages.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { rejection } from "./rejection.ts";
import { textOf } from "./text-of.ts";

const code = (name: string, key?: string) =>
  `export default { name: ${JSON.stringify(name)}, version: "0.0.1", ${key ? `key: ${JSON.stringify(key)},` : ""} run() {} };`;

describe("saving components", () => {
  let platform: TestPlatform;
  let now = Date.now();
  before(async () => {
    platform = await openTestPlatform({}, { process: "web", clock: () => now });
  });
  beforeEach(() => {
    now += 2000;
  });
  after(() => platform.destroy());

  const saver = (ownerId: string) => ({ ownerId, userId: ownerId });
  const save = (ownerId: string, text: string, url?: string) =>
    saveComponent(platform, saver(ownerId), { component_code: text, component_url: url });

  it("stores the code as given, its hash, and the bundle under its own hash", async () => {
    const text = `// a comment, kept\n${code("Kept")}\n`;
    const component = await save(newId("u"), text, "https://example.org/kept.mjs");
    expect(component).to.deep.include({
      code: text,
      code_hash: createHash("sha256").update(text).digest("hex"),
      component_url: "https://example.org/kept.mjs",
      name: "Kept",
      key: null,
      published: false,
    });
    const bundle = await textOf(platform, component.bundle_hash);
    expect(createHash("sha256").update(bundle).digest("hex")).to.equal(component.bundle_hash);
  });

  it("creates one component for each owner if the same code is saved at the same time", async () => {
    const [mine, theirs] = [newId("u"), newId("u")];
    const text = code("Same");
    const made = await Promise.all([mine, mine, mine, mine, theirs, theirs].map(owner => save(owner, text)));
    expect(new Set(made.map(({ _id }) => _id)).size).to.equal(2);
    expect(await Components(platform.mongo).countDocuments({ owner_id: { $in: [mine, theirs] } })).to.equal(
      2,
    );
    expect(new Set(made.map(({ bundle_hash }) => bundle_hash)).size).to.equal(1);
    expect(await save(mine, `${text} `), "code with one more space is different").not.to.have.property(
      "_id",
      made[0]?._id,
    );
  });

  it("does not build or install anything for code that the account has saved before", async () => {
    const owner = newId("u");
    const { npmEnvironment, cacheDir } = await fixturePackages();
    const text = `import ms from "ms"; ${code("With packages")} export { ms };`;
    const withPackages = { ...platform, config: { ...platform.config, npmEnvironment, cacheDir } };
    const first = await saveComponent(withPackages, saver(owner), { component_code: text });
    const useless = {
      ...platform,
      config: { ...platform.config, cacheDir: "/dev/null/none" },
      sandboxes: () => Promise.reject(new Error("not needed")),
    };
    expect((await saveComponent(useless, saver(owner), { component_code: text }))._id).to.equal(first._id);
  });

  it("is rejected for an account with too many saves under way, and for no other account", async () => {
    const owner = newId("u");
    const flood = Array.from({ length: 50 }, (_, n) => rejection(save(owner, `export default { name: ${n}`)));
    const other = await save(newId("u"), code("Other"));
    expect(other.name).to.equal("Other");
    const errors = await Promise.all(flood);
    const rejected = errors.filter(error => error.code === "rate-limited");
    expect(rejected).to.have.length(50 - LIMITS.savesPerAccount.value);
    for (const error of rejected) expect(error.retryAfterMs).to.be.above(0);
    expect((await save(owner, code("Later"))).name).to.equal("Later");
  });

  it("can create several components with a key, which refers to the owner's latest or the last published one", async () => {
    const [mine, theirs, third] = [newId("u"), newId("u"), newId("u")];
    const first = await save(mine, code("First", "one-key"));
    now += 2000;
    const second = await save(mine, code("Second", "one-key"));
    const other = await save(theirs, code("Other", "one-key"));
    expect((await findComponent(platform, "one-key", [mine]))?._id).to.equal(second._id);
    expect(await findComponent(platform, "one-key", [third])).to.equal(null);
    await publishComponent(platform, second._id);
    now += 2000;
    await publishComponent(platform, first._id);
    expect((await findPublished(platform, "one-key"))?._id).to.equal(first._id);
    expect((await findComponent(platform, "one-key", [third]))?._id).to.equal(first._id);
    expect((await findComponent(platform, "one-key", [theirs]))?._id).to.equal(other._id);
    expect((await findComponent(platform, second._id, [third]))?._id, "published, by id").to.equal(
      second._id,
    );
    expect(await findComponent(platform, other._id, [third])).to.equal(null);
    expect(await findOwnComponent(platform, second._id, [third])).to.equal(null);
  });

  it("publishes only components that exist and have a key", async () => {
    const keyless = await save(newId("u"), code("Keyless"));
    const error = await rejection(publishComponent(platform, keyless._id));
    expect([error.code, error.fields[0]?.path]).to.deep.equal(["invalid", "key"]);
    expect((await rejection(publishComponent(platform, newId("sc")))).code).to.equal("not-found");
    expect(await findPublished(platform, "no-such-key")).to.equal(null);
  });

  it("stores nothing if the component can't run, and names the invalid field", async () => {
    const before = await Promise.all([
      Components(platform.mongo).countDocuments(),
      Bundles(platform.mongo).countDocuments(),
    ]);
    for (const [text, path] of [
      ['import x from "./beside.mjs"; export default { name: x };', "component_code"],
      ["export default { name: 'x', version: '1', type: 'app' };", "type"],
      ["export default { version: '1' };", "name"],
      ["export default { name: 'x', version: '1', key: 'sc_like' };", "key"],
      ["export default { name: 'x', version: '1', props: { p: 'nonsense' } };", "props.p.type"],
    ] as const) {
      const error = await rejection(save(newId("u"), text));
      expect(error.code).to.equal("invalid");
      expect(
        error.fields.map(field => field.path),
        text,
      ).to.include(path);
    }
    expect((await rejection(saveComponent(platform, saver(newId("u")), {}))).fields).to.have.length(3);
    expect(
      await Promise.all([
        Components(platform.mongo).countDocuments(),
        Bundles(platform.mongo).countDocuments(),
      ]),
    ).to.deep.equal(before);
  });

  it("can be undone unless a source uses the component; the bundle is deleted with its last component", async () => {
    const [mine, theirs] = [newId("u"), newId("u")];
    const text = code("Deleted");
    const [one, other] = [await save(mine, text), await save(theirs, text)];
    const used = await storeSource(platform, { component_id: one._id, owner_id: theirs });
    expect((await rejection(deleteComponent(platform, one))).code).to.equal("conflict");
    await platform.mongo.collection("sources").deleteOne({ name_slug: used.name_slug });
    await deleteComponent(platform, one);
    expect(await Bundles(platform.mongo).exists({ _id: one.bundle_hash })).not.to.equal(null);
    await deleteComponent(platform, other);
    expect(await Bundles(platform.mongo).exists({ _id: one.bundle_hash })).to.equal(null);
  });

  it("never leaves a component without its bundle while a component with the same code is deleted @long", async () => {
    const text = code("Contested");
    for (let attempt = 0; attempt < 5; attempt += 1) {
      const [mine, theirs] = [newId("u"), newId("u")];
      const old = await save(mine, text);
      await Promise.all([
        save(theirs, text),
        // Repeated with different delays, so that the deletion meets different moments of the save.
        (async () => {
          for (let delay = 0; delay < attempt * 25; delay += 1)
            await Components(platform.mongo).countDocuments();
          await deleteComponent(platform, old);
        })(),
      ]);
      const made = await Components(platform.mongo).find({ owner_id: theirs }).lean();
      expect(made).to.have.length(1);
      expect(
        await Bundles(platform.mongo).exists({ _id: made[0]?.bundle_hash }),
        `attempt ${attempt}`,
      ).not.to.equal(null);
      await deleteComponent(platform, made[0] as (typeof made)[number]);
    }
  });
});
