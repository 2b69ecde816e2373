// runs-long: npm test has test/gallery and test/cli/deploy.test.ts
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { TEMPLATES } from "../../../src/cli/authoring/templates.ts";
import type { Api } from "../../support/api.ts";
import { type System, startSystem } from "../../support/system.ts";
import { commandsWith, headwater } from "../command.ts";

describe("headwater component new and check", () => {
  let system: System;
  let api: Api;
  let folder: string;
  let env: Record<string, string>;
  before(async () => {
    system = await startSystem();
    api = await system.user();
    env = { HEADWATER_URL: system.baseUrl, HEADWATER_API_KEY: api.apiKey };
    folder = await mkdtemp(join(tmpdir(), "headwater-authoring-"));
  });
  after(async () => {
    await system?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const { printed, failure } = commandsWith(() => env);

  for (const kind of Object.keys(TEMPLATES)) {
    it(`writes a component of the kind ${kind}, in which nothing is missing and which keeps its code`, async () => {
      const file = join(folder, `${kind}.mjs`);
      await printed("component", "new", file, "--kind", kind);
      expect(await printed("component", "check", file)).to.equal("");
      const component_code = await readFile(file, "utf8");
      const saved = await api.expect(201, "POST", "/components", { body: { component_code } });
      expect(saved).to.include({ key: kind, type: kind === "action" ? "action" : "source" });
      expect(await api.expect(200, "GET", `/components/${saved.id}/files`)).to.deep.equal({
        files: {},
        entry: null,
      });
    });
  }

  it("runs the first case of a new component, and says what differs once the component does something else", async () => {
    const file = join(folder, "tested.mjs");
    await printed("component", "new", file);
    expect(await printed("component", "test", file)).to.equal("ok      emits the body of a request\n");
    await writeFile(file, (await readFile(file, "utf8")).replace("event.body,", "{ id: 1 },"));
    const { code, stdout, stderr } = await headwater(["component", "test", file], env);
    expect(code).to.equal(1);
    expect(stdout.split("\n").slice(0, 2)).to.deep.equal([
      "failed  emits the body of a request",
      '        step 1 (run): emits[0].event.id: expected "o-1", got 1',
    ]);
    expect(stderr).to.equal("headwater: 1 of 1 cases failed\n");
    expect(await failure("component", "test", file, "--cases", join(folder, "absent.json"))).to.include(
      "no such file",
    );
    const wrong = join(folder, "wrong.json");
    await writeFile(wrong, '{"cases": [{"name": "x", "steps": [{"emit": []}]}]}');
    expect(await failure("component", "test", file, "--cases", wrong)).to.include("has no field emit");
  });

  it("overwrites nothing", async () => {
    const file = join(folder, "twice.ts");
    await printed("component", "new", file);
    expect(await failure("component", "new", file)).to.include("twice.ts: exists already");
  });

  it("says what keeps a component from being saved, and what others would miss in it", async () => {
    const file = join(folder, "poor.mjs");
    await writeFile(
      file,
      `export default { name: "Poor", version: "1", hooks: { activate() {} },
        props: { timer: "$.interface.timer", api_key: { type: "string", label: "Key" } }, run() {} };`,
    );
    const { code, stdout, stderr } = await headwater(["component", "check", file], env);
    expect(code).to.equal(1);
    expect(
      stdout
        .trim()
        .split("\n")
        .map(line => line.split(":")[0]),
    ).to.deep.equal([
      ...[
        "key",
        "version",
        "description",
        "sampleEmit",
        "hooks.deactivate",
        "dedupe",
        "props.timer",
        "props.api_key",
      ],
    ]);
    expect(stderr).to.include("8 things to change");
    await writeFile(
      file,
      'export default { name: "Bad", version: "1", props: { x: "nonsense" }, run() {} };',
    );
    const bad = await headwater(["component", "check", file], env);
    expect([bad.code, bad.stdout]).to.deep.equal([1, 'props.x.type: "nonsense" is not a type of props\n']);
    await writeFile(file, "export default { name: 1 +");
    expect(await failure("component", "check", file)).to.include("poor.mjs");
  });
});
