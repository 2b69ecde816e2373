import { readlink, stat } from "node:fs/promises";
import { expect } from "chai";
import { claimUserIds } from "../../src/sandbox/user-ids.ts";
import { openTestSandboxes, RUN, running } from "./sandbox-fixture.ts";

const OWN_ID = "a user id of its own";
const isRoot = process.getuid?.() === 0;

describe("sandbox privileges", () => {
  before(function () {
    if (process.platform !== "linux") this.skip();
  });

  it("give no id twice, neither in one worker nor in two, until it is given back", async () => {
    const [one, two] = await Promise.all([claimUserIds(300_000), claimUserIds(300_000)]);
    if (!one || !two) throw new Error("no ids");
    try {
      expect(Math.abs(one.first - two.first)).to.equal(1000);
      const ids = [one.take(), one.take(), two.take()];
      expect(new Set(ids).size).to.equal(3);
      one.giveBack(ids[0] ?? 0);
      expect(one.take()).to.equal(ids[0]);
    } finally {
      await Promise.all([one.close(), two.close()]);
    }
    const again = await claimUserIds(300_000);
    expect(again?.first).to.equal(300_000);
    await again?.close();
  });

  it("separate two sandboxes by user when the worker is root", async function () {
    if (!isRoot) this.skip();
    const sandboxes = await openTestSandboxes();
    try {
      if (!sandboxes.privileges.holds.includes(OWN_ID)) this.skip();
      const folders = await Promise.all(
        ["a", "b"].map(async key => {
          const { emits } = await sandboxes.call(key, running("this.$emit(process.pid)"), RUN);
          return stat(await readlink(`/proc/${emits[0]?.event}/cwd`));
        }),
      );
      expect(folders[0]?.uid).to.not.equal(folders[1]?.uid);
      for (const folder of folders) {
        expect(folder.uid).to.be.above(0);
        expect(folder.mode & 0o777).to.equal(0o700);
      }
    } finally {
      await sandboxes.close();
    }
  });

  it("are told as missing where the system refuses them, and components run all the same", async function () {
    if (!isRoot) this.skip();
    // The largest id but one: there is no room for it in any namespace.
    const sandboxes = await openTestSandboxes({ firstUserId: 4_294_967_295 });
    try {
      expect(sandboxes.privileges.lacks).to.include(OWN_ID);
      expect(sandboxes.privileges.holds).to.not.include(OWN_ID);
      const result = await sandboxes.call("a", running("this.$emit(1)"), RUN);
      expect(result.error).to.equal(undefined);
      expect(result.emits.length).to.equal(1);
    } finally {
      await sandboxes.close();
    }
  });
});
