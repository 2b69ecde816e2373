import { readlink, stat } from "node:fs/promises";
import { expect } from "chai";
import { claimUserIds } from "../../src/sandbox/privileges.ts";
import { skipBecause } from "../support/skip.ts";
import { openTestSandboxes, RUN, running } from "./sandbox-fixture.ts";

const USER_ID = "separate user id";
const isRoot = process.getuid?.() === 0;

describe("the privileges of sandboxes", () => {
  before(function () {
    if (process.platform !== "linux") skipBecause(this, "it is about Linux");
  });

  it("never include a user id twice, in one worker or in two, until it is released", async () => {
    const [one, two] = await Promise.all([claimUserIds(300_000), claimUserIds(300_000)]);
    if (!one || !two) throw new Error("no ids");
    try {
      expect(Math.abs(one.first - two.first)).to.equal(1000);
      const ids = [one.acquire(), one.acquire(), two.acquire()];
      expect(new Set(ids).size).to.equal(3);
      one.release(ids[0] ?? 0);
      expect(one.acquire()).to.equal(ids[0]);
    } finally {
      await Promise.all([one.close(), two.close()]);
    }
    const again = await claimUserIds(300_000);
    expect(again?.first).to.equal(300_000);
    await again?.close();
  });

  it("separate two sandboxes by user id if the worker is root", async function () {
    if (!isRoot) skipBecause(this, "only root has it");
    const sandboxes = await openTestSandboxes();
    try {
      if (!sandboxes.privileges.active.includes(USER_ID)) skipBecause(this, "this system has it not");
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

  it("are reported as missing if the system does not support them, and components still run", async function () {
    if (!isRoot) skipBecause(this, "only root has it");
    // As a user id, this is -1, which no process can have.
    const sandboxes = await openTestSandboxes({ firstUserId: 4_294_967_295 });
    try {
      expect(sandboxes.privileges.missing).to.include(USER_ID);
      expect(sandboxes.privileges.active).to.not.include(USER_ID);
      const result = await sandboxes.call("a", running("this.$emit(1)"), RUN);
      expect(result.error).to.equal(undefined);
      expect(result.emits.length).to.equal(1);
    } finally {
      await sandboxes.close();
    }
  });
});
