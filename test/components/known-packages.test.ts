import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { withKnownPackages } from "../../src/components/known-packages.ts";

describe("a set of installed packages", () => {
  let folder: string;
  let file: string;
  let normalized: number;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "known-packages-"));
    file = join(folder, "index.js");
    normalized = 0;
    await writeFile(join(folder, "package.json"), "{}");
    await writeFile(file, "one");
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const build = () =>
    withKnownPackages(folder, known =>
      known.normalText(file, async text => {
        normalized += 1;
        return text;
      }),
    );

  it("is read and brought into normal form once, not for each build", async () => {
    expect([await build(), await build()]).to.deep.equal(["one", "one"]);
    expect(normalized).to.equal(1);
  });

  it("is read again if it was installed again, or if the build failed", async () => {
    await build();
    // As an installation does, which makes a new folder.
    await rm(join(folder, "package.json"));
    await writeFile(join(folder, "package.json"), `{"private":true}`);
    await writeFile(file, "two");
    expect(await build()).to.equal("two");
    const failed = withKnownPackages(folder, async () => {
      throw new Error("removed in between");
    });
    expect(await failed.catch((error: Error) => error.message)).to.equal("removed in between");
    await writeFile(file, "three");
    expect(await build()).to.equal("three");
  });

  it("is confined to its folder whatever is known of it", async () => {
    const outside = withKnownPackages(folder, known =>
      known.normalText(join(folder, "../outside.js"), async text => text),
    );
    expect(await outside.catch((error: Error) => error.message)).to.include("outside the packages");
  });
});
