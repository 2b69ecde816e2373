import { readdir, readFile } from "node:fs/promises";
import { expect } from "chai";
import { fixturePath } from "./fixture.ts";

describe("compatibility: the fixtures", () => {
  it("are each used by a test or imported by another fixture", async () => {
    const files = (await readdir(fixturePath(""), { recursive: true })).filter(file => /\.\w+$/.test(file));
    const tests = (await readdir(import.meta.dirname)).filter(file => file.endsWith(".test.ts"));
    const testTexts = await Promise.all(
      tests.map(file => readFile(`${import.meta.dirname}/${file}`, "utf8")),
    );
    const texts = await Promise.all(files.map(file => readFile(fixturePath(file), "utf8")));
    // By its name, by its name without the extension as in TypeScript, or by its folder if it is an index file.
    const isImported = (file: string) => {
      const [folder = "", name = ""] = file.split("/").slice(-2);
      const names = [`/${name}"`, `/${name.replace(/\.\w+$/, "")}"`, `/${name.replace(/ts$/, "js")}"`];
      if (name.startsWith("index.")) names.push(`/${folder}"`);
      return texts.some(text => names.some(imported => text.includes(imported)));
    };
    const unused = files.filter(file => !testTexts.some(text => text.includes(file)) && !isImported(file));
    expect(unused).to.deep.equal([]);
  });
});
