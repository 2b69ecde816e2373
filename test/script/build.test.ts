import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { buildIfStale } from "../../script/lib/build.mjs";

describe("a build", () => {
  it("without the development dependencies says what to install, and leaves nothing behind", async () => {
    const root = mkdtempSync(join(tmpdir(), "headwater-build-"));
    try {
      const built = buildIfStale({ root, say: () => undefined }).then(
        () => "built",
        (error: Error) => error.message,
      );
      expect(await built).to.include("typescript is not installed: run npm ci --include=dev");
      expect(readdirSync(root)).to.deep.equal([]);
    } finally {
      rmSync(root, { recursive: true, force: true });
    }
  });
});
