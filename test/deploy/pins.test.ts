import { readdirSync } from "node:fs";
import { expect } from "chai";
import { read } from "../docs/repository.ts";

const FOLDER = ".github/workflows";

describe("the CI workflow", () => {
  it("names each action by its commit, which nobody can move", () => {
    const used = readdirSync(FOLDER).flatMap(file =>
      [...read(`${FOLDER}/${file}`).matchAll(/uses: (.*)/g)].map(([, action]) => action),
    );
    expect(used).to.have.length.above(2);
    for (const action of used) expect(action).to.match(/^[\w.-]+\/[\w.-]+@[0-9a-f]{40} # v[\d.]+$/);
  });
});
