import { expect } from "chai";
import { lockfileProblems } from "../../script/lib/lockfile.mjs";

describe("the check of the lockfile", () => {
  const integrity = "sha512-x";

  it("accepts one with an entry for every dependency, nested ones included", () => {
    const packages = {
      "": { dependencies: { a: "1.0.0" }, devDependencies: { b: "1.0.0" } },
      "node_modules/a": {
        integrity,
        dependencies: { c: "1" },
        optionalDependencies: { "@a/darwin": "1.0.0" },
      },
      "node_modules/a/node_modules/c": { integrity, dependencies: { b: "1" } },
      "node_modules/b": { integrity },
      "node_modules/@a/darwin": { integrity },
    };
    expect(lockfileProblems({ packages })).to.deep.equal([]);
  });

  it("accepts a workspace and the link to it, and finds what the workspace depends on", () => {
    const packages = {
      "": { dependencies: { b: "1.0.0" } },
      "clients/one": { dependencies: { b: "1", missing: "1" } },
      "node_modules/@a/one": { resolved: "clients/one", link: true },
      "node_modules/b": { integrity },
    };
    expect(lockfileProblems({ packages })).to.deep.equal([
      "missing has no entry (clients/one depends on it)",
    ]);
  });

  it("reports dependencies without an entry, and entries without a checksum or with the address of a registry", () => {
    const packages = {
      "": { dependencies: { a: "1.0.0" } },
      "node_modules/a": { integrity, optionalDependencies: { "@a/darwin": "1.0.0" } },
      "node_modules/b": {},
      "node_modules/c": { integrity, resolved: "https://registry.example/c.tgz" },
    };
    expect(lockfileProblems({ packages })).to.deep.equal([
      "@a/darwin has no entry (node_modules/a depends on it)",
      "node_modules/b has no integrity",
      "node_modules/c names a registry",
    ]);
  });
});
