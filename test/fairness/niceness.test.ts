import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { getPriority } from "node:os";
import { expect } from "chai";
import { giveWay, giveWayToOthers } from "../../src/fairness/niceness.ts";

describe("a process that does an account's work", () => {
  let child: ChildProcess;
  const start = (detached: boolean): number => {
    child = spawn("sleep", ["60"], { detached, stdio: "ignore" });
    return child.pid ?? 0;
  };
  afterEach(() => child.kill("SIGKILL"));

  /** How nice the session of a process is to other sessions; undefined where it is not weighed: the file is empty then, or absent. */
  const nicenessOfSession = (pid: number | "self") => {
    const file = `/proc/${pid}/autogroup`;
    return existsSync(file) ? /nice (-?\d+)/.exec(readFileSync(file, "utf8"))?.[1] : undefined;
  };

  it("gives way to the platform, as a process and as a session", () => {
    const pid = start(true);
    giveWay(pid);
    const nicer = Math.min(getPriority() + 10, 19);
    expect(getPriority(pid)).to.equal(nicer);
    expect(nicenessOfSession(pid)).to.be.oneOf([String(nicer), undefined]);
  });

  it("gives way to those of others while it computes for long", () => {
    const pid = start(true);
    giveWay(pid);
    giveWayToOthers(pid, true);
    expect(getPriority(pid)).to.equal(19);
    giveWayToOthers(pid, false);
    // Only root may make a process less nice.
    const after = process.getuid?.() === 0 ? Math.min(getPriority() + 10, 19) : 19;
    expect(getPriority(pid)).to.equal(after);
  });

  it("makes no other process of its session nicer", () => {
    const before = nicenessOfSession("self");
    giveWay(start(false));
    expect(nicenessOfSession("self")).to.equal(before);
  });
});
