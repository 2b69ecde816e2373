import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { sourceOf, sourceProgram } from "../../script/lib/programs.mjs";
import { isAffected, watchSources } from "../../script/lib/source-watch.mjs";
import { until } from "../support/until.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

describe("npm run dev", () => {
  it("runs the processes of the Procfile from their sources", () => {
    const built = { name: "runs", program: "node", args: ["--heap=1", "dist/workers/runs.js", "--own"] };
    const source = sourceProgram(built);
    expect(source.args).to.deep.equal(["--heap=1", "--import", "tsx", "workers/runs.ts", "--own"]);
    expect([sourceOf(built), sourceOf(source)]).to.deep.equal(["workers/runs.ts", "workers/runs.ts"]);
    const other = { name: "db", program: "mongod", args: ["--quiet"] };
    expect(sourceProgram(other)).to.equal(other);
  });

  it("restarts the processes that import a saved file, and all of them for a file that is not imported", () => {
    expect(isAffected(root, "src/server.ts", ["src/http/router.ts"])).to.equal(true);
    expect(isAffected(root, "workers/deliveries.ts", ["src/http/router.ts"])).to.equal(false);
    expect(isAffected(root, "workers/deliveries.ts", ["workers/deliveries.ts"])).to.equal(true);
    expect(isAffected(root, "workers/all.ts", ["src/runs/run.ts"])).to.equal(true);
    expect(isAffected(root, "workers/deliveries.ts", ["src/store/lua/any.lua"])).to.equal(true);
  });

  it("reports saved, new and removed files together, once no more changes come", async () => {
    const folder = mkdtempSync(join(tmpdir(), "headwater-watch-"));
    for (const name of ["src", "workers"]) mkdirSync(join(folder, name));
    for (const name of ["saved", "removed", "same"]) writeFileSync(join(folder, `src/${name}.ts`), "");
    const reported: string[][] = [];
    const ending = new AbortController();
    const watching = watchSources({
      root: folder,
      signal: ending.signal,
      everyMs: 20,
      onChange: async files => void reported.push(files.sort()),
    });
    try {
      utimesSync(join(folder, "src/saved.ts"), 1, 1);
      rmSync(join(folder, "src/removed.ts"));
      writeFileSync(join(folder, "workers/new.ts"), "");
      await until(() => reported.length > 0, { what: "the changes" });
      expect(reported).to.deep.equal([["src/removed.ts", "src/saved.ts", "workers/new.ts"]]);
    } finally {
      ending.abort();
      await watching;
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
