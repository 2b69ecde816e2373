import { spawnSync } from "node:child_process";
import { expect } from "chai";
import { skipBecause } from "../../support/skip.ts";
import { headwater } from "../command.ts";
import { openShells, type Shells } from "./shells.ts";

describe("headwater completion", () => {
  let shells: Shells;
  before(async () => {
    shells = await openShells();
  });
  after(() => shells.close());

  for (const shell of ["bash", "fish"] as const) {
    const complete = (line: string) => shells[shell](line);
    describe(`in ${shell}`, () => {
      before(function () {
        if (spawnSync(shell, ["--version"]).error) skipBecause(this, `there is no ${shell} on the PATH`);
      });

      it("completes commands, their commands, options and the values of these", async () => {
        expect(await complete("headwater sou")).to.deep.equal(["source"]);
        expect(await complete("headwater source l")).to.have.members(["list", "logs"]);
        expect(await complete("headwater source list --js")).to.deep.equal(["--json"]);
        expect(await complete("headwater delivery list --state fa")).to.deep.equal(["failed"]);
        expect(await complete("headwater completion --he")).to.deep.equal(["--help"]);
      });

      it("completes behind options and arguments too, by the command that they belong to", async () => {
        expect(await complete("headwater source logs orders --fo")).to.deep.equal(["--follow"]);
        expect(await complete("headwater delivery list --webhook x --st")).to.have.members([
          "--state",
          "--status",
        ]);
      });
    });
  }

  it("prints a script that zsh can read", async function () {
    if (spawnSync("zsh", ["--version"]).error) skipBecause(this, "there is no zsh on the PATH");
    await shells.zsh(["-n", shells.files.zsh]);
    // What zsh's own completion does with it.
    const load = `compdef() { print -r -- "$2 $1 \${+functions[$1]}" }; . ${shells.files.zsh}`;
    expect((await shells.zsh(["-f", "-c", load])).trim()).to.equal("headwater _headwater 1");
  });

  it("names the shells for another one", async () => {
    const { code, stderr } = await headwater(["completion", "tcsh"]);
    expect([code, stderr]).to.deep.equal([2, stderr]);
    expect(stderr).to.include("bash, zsh, fish");
  });
});
