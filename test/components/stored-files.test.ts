import { expect } from "chai";
import { Components } from "../../src/models/component.ts";
import type { Api } from "../support/api.ts";
import { startReceiver } from "../support/receiver.ts";
import { type System, startSystem } from "../support/system.ts";

const MAIN =
  'import { word } from "../lib/word.mjs"; export default { name: "Kept", version: "0.0.1", run() { return word; } };';
const FILES = { "app/main.mjs": MAIN, "lib/word.mjs": 'export const word = "kept";' };

/** docs/rest-api.md#components */
describe("the files of a component", () => {
  let system: System;
  let api: Api & { userId: string };
  before(async () => {
    system = await startSystem({}, { workers: false });
    api = await system.user();
  });
  after(() => system.stop());

  const save = (body: object) => api.expect(201, "POST", "/components", { body });
  const filesOf = (id: string, by: Api = api) => by.request("GET", `/components/${id}/files`);

  it("are those that it imports, and make the same component again", async () => {
    const given = { files: { ...FILES, "unused.mjs": "export {};" }, entry: "app/main.mjs" };
    const component = await save(given);
    expect(component).not.to.have.property("files");
    const { status, body } = await filesOf(component.id);
    expect([status, body.data]).to.deep.equal([200, { files: FILES, entry: "app/main.mjs" }]);
    expect((await save(body.data)).id).to.equal(component.id);
    expect((await filesOf(component.id, await system.user())).status).to.equal(404);
  });

  it("are read by nothing else", async () => {
    const { id } = await save({ files: FILES, entry: "app/main.mjs" });
    expect(await Components(system.worker.mongo).findById(id).lean()).not.to.have.property("files");
    const found = await api.expect(200, "GET", "/components", {});
    expect(JSON.stringify(found)).not.to.include("word.mjs:");
  });

  it("are none where its code is all of it", async () => {
    const { id } = await save({ component_code: MAIN.replace(/import.*?;/, "").replace("word;", "1;") });
    expect((await filesOf(id)).body.data).to.deep.equal({ files: {}, entry: null });
  });

  it("are unknown where an earlier release saved it, until it is saved again", async () => {
    const given = {
      files: { ...FILES, "lib/word.mjs": 'export const word = "before";' },
      entry: "app/main.mjs",
    };
    const { id } = await save(given);
    await Components(system.worker.mongo).updateOne({ _id: id }, { $unset: { files: 1 } }, { strict: false });
    expect((await filesOf(id)).body.data).to.deep.equal({ files: null, entry: null });
    expect((await save(given)).id).to.equal(id);
    expect((await filesOf(id)).body.data).to.deep.equal(given);
  });

  it("of an address are those below the folder that they share", async () => {
    const texts: Record<string, string> = {
      "/o/r/components/a/app/main.mjs": MAIN.replace("Kept", "Fetched"),
      "/o/r/components/a/lib/word.mjs": FILES["lib/word.mjs"],
    };
    const server = await startReceiver(({ path }) => ({
      status: path in texts ? 200 : 404,
      body: texts[path] ?? "",
    }));
    const { id } = await save({ component_url: new URL("/o/r/components/a/app/main.mjs", server.url).href });
    const { files, entry } = (await filesOf(id)).body.data;
    expect([Object.keys(files), entry]).to.deep.equal([["app/main.mjs", "lib/word.mjs"], "app/main.mjs"]);
    expect((await save({ files, entry })).id).to.equal(id);
    await server.close();
  });
});
