import { expect } from "chai";
import { loadResponseMode } from "../../src/ingress/load-response-mode.ts";
import { AppError } from "../../src/lib/errors.ts";
import { newId } from "../../src/lib/ids.ts";
import { Bundles, Components } from "../../src/models/component.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";

describe("who responds to a request for a source", () => {
  let platform: TestPlatform;
  before(async () => {
    platform = await openTestPlatform({}, { process: "web" });
  });
  after(() => platform.destroy());

  async function storeComponent(customResponse: boolean, uses_respond: boolean): Promise<string> {
    const _id = newId("sc");
    await Bundles(platform.mongo).create({ _id, code: "x".repeat(2_000_000) });
    await Components(platform.mongo).create({
      _id,
      owner_id: "u_1",
      user_id: "u_1",
      code: "x".repeat(1_000_000),
      code_hash: _id,
      bundle_hash: _id,
      name: "Large",
      version: "1",
      description: {
        name: "Large",
        version: "1",
        hooks: [],
        hasRun: true,
        props: [
          { name: "list", type: "string", description: "x".repeat(100_000) },
          { name: "http", type: "$.interface.http", ...(customResponse && { customResponse }) },
        ],
      },
      packages: {},
      uses_respond,
      published: false,
      created_at: 1,
      updated_at: 1,
    });
    return _id;
  }

  it("is known without the component's code, bundle and descriptions", async () => {
    const kinds: [boolean, boolean, string][] = [
      [true, false, "custom"],
      [true, true, "custom"],
      [false, true, "maybe"],
      [false, false, "never"],
    ];
    const ids = await Promise.all(kinds.map(([custom, uses]) => storeComponent(custom, uses)));
    const { db } = platform.mongo;
    await db?.command({ profile: 2 });
    for (const [i, [, , mode]] of kinds.entries()) {
      expect(await loadResponseMode(platform, { component_id: ids[i] ?? "" })).to.equal(mode);
      expect(await loadResponseMode(platform, { component_id: ids[i] ?? "" }), "again").to.equal(mode);
    }
    await db?.command({ profile: 0 });
    const queries = await db?.collection("system.profile").find({ op: "query" }).toArray();
    expect(queries?.map(({ command }) => command.find)).to.deep.equal(kinds.map(() => "components"));
    for (const { responseLength } of queries ?? []) expect(responseLength).to.be.below(1000);
  });

  it("is not found for a component that no longer exists", async () => {
    const error = await loadResponseMode(platform, { component_id: newId("sc") }).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).to.be.instanceOf(AppError).with.property("code", "not-found");
  });
});
