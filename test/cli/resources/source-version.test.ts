// runs-long: npm test has test/sources/versions.test.ts and test/lib/code-diff.test.ts

import { writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import type { Api } from "../../support/api.ts";
import { type System, startSystem } from "../../support/system.ts";
import { commandsWith, headwater } from "../command.ts";

const code = (word: string, props = "") => `export default {
  name: "Told",
  version: "0.0.1",
  props: { http: "$.interface.http", ${props} },
  run() {
    this.$emit("${word}");
  },
};
`;

describe("headwater source versions, diff and restore", () => {
  let system: System;
  let api: Api;
  let folder: string;
  before(async () => {
    system = await startSystem();
    api = await system.user();
    folder = await mkdtemp(join(tmpdir(), "headwater-versions-"));
  });
  after(async () => {
    await rm(folder, { recursive: true, force: true });
    await system.stop();
  });

  const env = () => ({ HEADWATER_URL: system.baseUrl, HEADWATER_API_KEY: api.apiKey });
  const { printed, json, failure } = commandsWith(env);
  const deploy = async (text: string, comment: string, ...more: string[]) => {
    writeFileSync(join(folder, "told.mjs"), text);
    await printed("deploy", join(folder, "told.mjs"), "--name", "told", "--comment", comment, ...more);
  };

  it("list who deployed what, show what differs, and go back", async () => {
    await deploy(code("one"), "the first");
    expect(await failure("source", "diff", "told")).to.include("one version");
    await deploy(code("two"), "the second");
    await deploy(code("three"), "the third");
    const { username } = await api.expect(200, "GET", "/users/me");
    expect(await printed("source", "versions", "told")).to.match(
      new RegExp(
        `^VERSION +AT +BY +FROM +CODE +COMMENT\n3 \\(current\\) +20\\S+Z +${username} +component_code +0\\.0\\.1 [0-9a-f]{8} +the third\n2 `,
      ),
    );
    expect(
      (await json("source", "versions", "told")).map(({ number }: { number: number }) => number),
    ).to.deep.equal([3, 2, 1]);
    const lastChange = await printed("source", "diff", "told");
    expect(lastChange).to.include("--- code\tversion 2\n+++ code\tversion 3\n@@ -3,6 +3,6 @@");
    expect(lastChange).to.include('\n-    this.$emit("two");\n+    this.$emit("three");\n');
    expect(await printed("source", "diff", "told", "1")).to.include('-    this.$emit("one");');
    expect(await printed("source", "diff", "told", "3", "2")).to.include('+    this.$emit("two");');
    expect(await printed("source", "diff", "told", "2", "2")).to.equal(
      "Versions 2 and 2 have the same code.\n",
    );
    expect(await printed("source", "restore", "told", "1", "--comment", "three is wrong")).to.match(
      /^told \(dc_\S+\) has the code of version 1\.\n$/,
    );
    const [restored] = await json("source", "versions", "told");
    expect(restored).to.include({ number: 4, restored_from: 1, comment: "three is wrong" });
    expect(await printed("source", "diff", "told", "1", "4")).to.include("the same code");
  });

  it("say what was wrong", async () => {
    expect((await headwater(["source", "restore", "told", "x"], env())).code).to.equal(2);
    expect((await headwater(["source", "diff", "told", "0"], env())).code).to.equal(2);
    expect(await failure("source", "restore", "told", "77")).to.include("version not found");
    expect(await failure("source", "versions", "absent")).to.include("source not found");
  });

  it("restore with other values of props that do not fit", async () => {
    const file = join(folder, "props.json");
    writeFileSync(file, '{"city": "Bern"}');
    await deploy(code("strict", 'city: { type: "string", options: ["Bern"] }'), "strict", "--props", file);
    await deploy(code("loose", 'city: { type: "string" }'), "loose");
    const { id } = await json("source", "show", "told");
    await api.expect(200, "PUT", `/sources/${id}`, { body: { configured_props: { city: "Rome" } } });
    const [, strict] = await json("source", "versions", "told");
    expect(await failure("source", "restore", "told", String(strict.number))).to.include("city");
    await printed("source", "restore", "told", String(strict.number), "--props", file);
    expect((await json("source", "show", "told")).configured_props.city).to.equal("Bern");
  });
});
