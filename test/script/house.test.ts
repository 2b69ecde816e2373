import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { expect } from "chai";
import { importersOf } from "../../script/house/sources.ts";
import { withoutFloor } from "../../script/house/ways.ts";
import { settingNames } from "../../src/setting-schema.ts";
import { filesOf, read, root } from "../docs/repository.ts";

interface Printed {
  commit: string;
  figures: { name: string; value: number | string; aim?: string }[];
  waiting: string[];
  touched: { what: string; place: string }[];
  ways: null;
}

describe("npm run house", () => {
  let printed: Printed;

  before(async () => {
    const args = ["--import", "tsx", "script/house.ts", "--static", "--json"];
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root });
    printed = JSON.parse(stdout);
  });

  const figure = (name: string) => printed.figures.find(one => one.name === name)?.value;

  it("counts the files and lines that are there", () => {
    const code = filesOf("src", "workers").filter(file => file.endsWith(".ts"));
    expect(figure("files of src and workers, .ts")).to.equal(code.length);
    const lines = code.reduce((sum, file) => sum + read(file).split("\n").length - 1, 0);
    expect(figure("lines of them")).to.equal(lines);
    expect(figure("settings")).to.equal(settingNames.length);
    expect(figure("decisions")).to.equal(filesOf("docs/decisions").length);
  });

  it("finds something of everything that it counts", () => {
    const empty = printed.figures
      .filter(({ name, aim }) => name !== "npm test, seconds" && aim !== "0")
      .filter(({ value }) => !(Number(value) > 0));
    expect(empty).to.deep.equal([]);
    expect(printed.ways).to.equal(null);
  });

  it("names the places where a delivery waits, and where private parts of libraries are touched", () => {
    expect(printed.waiting).to.have.length(Number(figure("places where a delivery waits")));
    expect(printed.touched).to.have.length(Number(figure("places that touch them")));
    for (const { place } of printed.touched) {
      const [file = "", line] = place.split(":");
      expect(readFileSync(`${root}${file}`, "utf8").split("\n").length, place).to.be.at.least(Number(line));
    }
  });

  it("counts the importers of a file, those of its types too", () => {
    const file = (path: string, text: string) => ({ path, text, lines: 1 });
    const importers = importersOf([
      file("src/a.ts", 'import type { B } from "./lib/b.ts";\nconst c = await import("./c.ts");'),
      file("src/lib/b.ts", 'export {\n  c,\n} from "../c.ts";'),
      file("src/c.ts", ""),
    ]);
    expect([...(importers.get("src/lib/b.ts") ?? [])]).to.deep.equal(["src/a.ts"]);
    expect([...(importers.get("src/c.ts") ?? [])]).to.deep.equal(["src/a.ts", "src/lib/b.ts"]);
  });

  it("leaves the folders that serve all others out of the second count of a way", () => {
    const files = ["src/lib/ids.ts", "src/sandbox/pool.ts", "src/http/route.ts", "workers/runs.ts"];
    expect(withoutFloor(files)).to.deep.equal(["src/http/route.ts", "workers/runs.ts"]);
  });
});
