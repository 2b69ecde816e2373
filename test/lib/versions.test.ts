import { readFileSync } from "node:fs";
import { expect } from "chai";
import { judgeVersion, SUPPORTED } from "../../src/lib/versions.ts";

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

describe("supported versions", () => {
  const verdictOf = (version: string) => judgeVersion(SUPPORTED.redis, version).is;

  it("begin with the oldest that has what is used, and end with the newest major one that was tested", () => {
    expect(["6.2", "6.2.14", "7.0.15", "7.4.1"].map(verdictOf)).to.deep.equal(["ok", "ok", "ok", "ok"]);
    expect(["5.0.14", "6.0.16", ""].map(verdictOf)).to.deep.equal(["old", "old", "old"]);
    expect(["8.0.0", "10.1"].map(verdictOf)).to.deep.equal(["untested", "untested"]);
  });

  it("have a line that says what to install", () => {
    expect(judgeVersion(SUPPORTED.mongodb, "5.0.3")).to.include({
      message: "MongoDB 5.0.3 is too old: install 6.0 or newer",
    });
    expect(judgeVersion(SUPPORTED.mongodb, "8.0.1")).to.include({
      message: "MongoDB 8.0.1 is newer than 6.x, the newest tested version",
    });
  });

  it("are the same in package.json and in the scripts", () => {
    const { least } = SUPPORTED.node;
    expect(JSON.parse(read("package.json")).engines.node).to.equal(`>=${least}`);
    const [major, minor] = least.split(".");
    expect(read("script/lib/require-node.sh"))
      .to.include(`node_major < ${major} `)
      .and.include(`node_minor < ${minor})`);
    expect(read("script/lib/redis.mjs")).to.include(`LEAST = "${SUPPORTED.redis.least}"`);
    expect(read("script/lib/mongod.mjs")).to.include(`LEAST = "${SUPPORTED.mongodb.least}"`);
    expect(Number(read(".nvmrc"))).to.be.at.most(SUPPORTED.node.newestMajor);
  });
});
