import { spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { skipBecause } from "../../support/skip.ts";
import { headwater } from "../command.ts";

/** What a line is completed by in one of the shells, in an order of its own. */
type Complete = (line: string) => string[];

describe("headwater completion", () => {
  let folder: string;
  const files: Record<string, string> = {};
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "headwater-completion-"));
    for (const shell of ["bash", "zsh", "fish"]) {
      const { code, stdout, stderr } = await headwater(["completion", shell]);
      expect(code, stderr).to.equal(0);
      files[shell] = join(folder, `headwater.${shell}`);
      await writeFile(files[shell], stdout);
    }
  });
  after(() => rm(folder, { recursive: true, force: true }));

  function output(program: string, args: string[]): string {
    const { status, stdout, stderr } = spawnSync(program, args, { encoding: "utf8", cwd: folder });
    expect(status, stderr).to.equal(0);
    return stdout;
  }

  const inBash: Complete = line => {
    const script = `. "$1"; COMP_WORDS=($2); [ "\${2% }" = "$2" ] || COMP_WORDS+=(""); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
      _headwater; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return output("bash", ["--norc", "-c", script, "bash", files.bash ?? "", line])
      .split("\n")
      .filter(Boolean);
  };
  const inFish: Complete = line => {
    const text = output("fish", ["--no-config", "-c", `source ${files.fish}; complete -C '${line}'`]);
    return text
      .split("\n")
      .filter(Boolean)
      .map(row => row.split("\t")[0] ?? "");
  };

  for (const [shell, complete] of Object.entries({ bash: inBash, fish: inFish })) {
    describe(`in ${shell}`, () => {
      before(function () {
        if (spawnSync(shell, ["--version"]).error) skipBecause(this, `there is no ${shell} on the PATH`);
      });

      it("completes commands, their commands, options and the values of these", () => {
        expect(complete("headwater sou")).to.deep.equal(["source"]);
        expect(complete("headwater source l")).to.have.members(["list", "logs"]);
        expect(complete("headwater source list --js")).to.deep.equal(["--json"]);
        expect(complete("headwater delivery list --state fa")).to.deep.equal(["failed"]);
        expect(complete("headwater completion --he")).to.deep.equal(["--help"]);
      });

      it("completes behind options and arguments too, by the command that they belong to", () => {
        expect(complete("headwater source logs orders --fo")).to.deep.equal(["--follow"]);
        expect(complete("headwater delivery list --webhook x --st")).to.have.members(["--state", "--status"]);
      });
    });
  }

  it("prints a script that zsh can read", function () {
    if (spawnSync("zsh", ["--version"]).error) skipBecause(this, "there is no zsh on the PATH");
    output("zsh", ["-n", files.zsh ?? ""]);
    // What zsh's own completion does with it.
    const load = `compdef() { print -r -- "$2 $1 \${+functions[$1]}" }; . ${files.zsh}`;
    expect(output("zsh", ["-f", "-c", load]).trim()).to.equal("headwater _headwater 1");
  });

  it("names the shells for another one", async () => {
    const { code, stderr } = await headwater(["completion", "tcsh"]);
    expect([code, stderr]).to.deep.equal([2, stderr]);
    expect(stderr).to.include("bash, zsh, fish");
  });
});
