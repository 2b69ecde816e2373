import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { Headwater } from "../../clients/typescript/src/index.ts";
import { root } from "../support/built.ts";

const client = new Headwater({ url: "http://127.0.0.1:9", apiKey: "hw_none" });
const readme = readFileSync(join(root, "clients/typescript/README.md"), "utf8");

const methodsOf = (value: object): string[] =>
  Object.getOwnPropertyNames(Object.getPrototypeOf(value)).filter(name => name !== "constructor");
/** The names in a row's second cell, by the name in its first one, of the table of calls. */
const documented = new Map(
  [...readme.matchAll(/^\| `(\w+)[^`]*` \| (.*) \|$/gm)].map(([, name = "", cell = ""]) => [
    name,
    [...cell.matchAll(/`(\w+)`/g)].map(([, method]) => method),
  ]),
);

describe("the README of the client", () => {
  for (const [name, resource] of Object.entries(client)) {
    it(`names every call of ${name}, and no other`, () => {
      expect(documented.get(name)).to.have.members(methodsOf(resource));
    });
  }

  it("names the calls of the client itself", () => {
    expect([...documented.keys()]).to.have.members([...Object.keys(client), ...methodsOf(client)]);
  });
});
