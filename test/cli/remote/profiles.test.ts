import { chmod, mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { type Profiles, readProfiles, writeProfiles } from "../../../src/cli/remote/access.ts";

const profiles: Profiles = {
  current: "one",
  byName: new Map([["one", { url: "https://one.example.com", api_key: "hw_one" }]]),
};

describe("the profiles of the command line", () => {
  let parent: string;
  let folder: string;
  beforeEach(async () => {
    parent = await mkdtemp(join(tmpdir(), "headwater-profiles-"));
    folder = join(parent, "headwater");
  });
  afterEach(() => rm(parent, { recursive: true, force: true }));

  const problem = async () =>
    readProfiles(folder).then(
      () => expect.fail("they were read"),
      (error: Error) => error.message,
    );

  it("are none before the first", async () => {
    expect(await readProfiles(folder)).to.deep.equal({ current: null, byName: new Map() });
  });

  it("are written so that their owner only may read them, and nothing else is left", async () => {
    await writeProfiles(folder, profiles);
    await writeProfiles(folder, profiles);
    expect(await readProfiles(folder)).to.deep.equal(profiles);
    expect(await readdir(folder)).to.deep.equal(["profiles.json"]);
    expect((await stat(join(folder, "profiles.json"))).mode & 0o777).to.equal(0o600);
    expect((await stat(folder)).mode & 0o777).to.equal(0o700);
  });

  it("are not used while others may read them", async () => {
    await writeProfiles(folder, profiles);
    await chmod(join(folder, "profiles.json"), 0o640);
    expect(await problem()).to.match(/may be read by others: run chmod 600 .*profiles\.json/);
  });

  it("that are damaged are an error that names the file", async () => {
    await writeProfiles(folder, profiles);
    for (const text of [
      "{",
      '{"profiles": {"one": {"url": 1, "api_key": "hw_x"}}}',
      '{"profiles": {"../x": {}}}',
    ]) {
      await writeFile(join(folder, "profiles.json"), text);
      expect(await problem()).to.match(/profiles\.json is damaged/);
    }
  });

  it("have no current one that is not there", async () => {
    await writeProfiles(folder, { ...profiles, current: "gone" });
    expect((await readProfiles(folder)).current).to.equal(null);
  });
});
