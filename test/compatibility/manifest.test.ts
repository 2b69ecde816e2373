import { readdir, readFile } from "node:fs/promises";
import { expect } from "chai";
import { fixturePath } from "./fixture.ts";

describe("compatibility: the fixtures", () => {
  it("are each named by a test, unless another fixture imports them", async () => {
    const files = (await readdir(fixturePath(""), { recursive: true })).filter(file => /\.\w+$/.test(file));
    const tests = (await readdir(import.meta.dirname)).filter(file => file.endsWith(".test.ts"));
    const said = await Promise.all(tests.map(file => readFile(`${import.meta.dirname}/${file}`, "utf8")));
    const texts = await Promise.all(files.map(file => readFile(fixturePath(file), "utf8")));
    // By its own name, its name without extension as TypeScript writes it, or its folder for an index file.
    const isImported = (file: string) => {
      const [folder = "", name = ""] = file.split("/").slice(-2);
      const names = [`/${name}"`, `/${name.replace(/\.\w+$/, "")}"`, `/${name.replace(/ts$/, "js")}"`];
      if (name.startsWith("index.")) names.push(`/${folder}"`);
      return texts.some(text => names.some(named => text.includes(named)));
    };
    const forgotten = files.filter(file => !said.some(text => text.includes(file)) && !isImported(file));
    expect(forgotten).to.deep.equal([]);
  });
});
