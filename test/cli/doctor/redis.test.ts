import { expect } from "chai";
import { judgeRedis } from "../../../src/cli/doctor/stores.ts";

/** What `INFO` of a well-kept server says, with some fields changed. */
const info = (changed: Record<string, string> = {}): string =>
  Object.entries({
    redis_version: "7.2.4",
    maxmemory: "1073741824",
    maxmemory_policy: "noeviction",
    aof_enabled: "1",
    aof_last_bgrewrite_status: "ok",
    aof_last_write_status: "ok",
    ...changed,
  })
    .map(([name, value]) => `${name}:${value}`)
    .join("\r\n");

/** The findings that are not ok. */
const found = (changed: Record<string, string>, share = 0.5) =>
  judgeRedis([info(changed)], share).filter(({ severity }) => severity !== "ok");

describe("what the doctor says of Redis", () => {
  it("is ok where all is well, a line for each thing", () => {
    expect(judgeRedis([info()], 0.5)).to.deep.equal([
      { check: "Redis", severity: "ok", message: "version 7.2.4" },
      { check: "eviction", severity: "ok", message: "noeviction" },
      { check: "append-only file", severity: "ok", message: "is on" },
      { check: "memory of Redis", severity: "ok", message: "50 % used" },
    ]);
  });

  it("is a problem where it evicts", () => {
    expect(found({ maxmemory_policy: "allkeys-lru" })).to.deep.equal([
      {
        check: "eviction",
        severity: "problem",
        message: "Redis may delete accepted work: maxmemory-policy is allkeys-lru",
        advice: "set maxmemory-policy to noeviction, in redis.conf too",
      },
    ]);
  });

  it("is a problem where the append-only file is off, or can't be written", () => {
    expect(found({ aof_enabled: "0" })).to.deep.equal([
      {
        check: "append-only file",
        severity: "problem",
        message: "is off: a restart of Redis loses accepted work",
        advice: "set appendonly to yes, in redis.conf too",
      },
    ]);
    expect(found({ aof_last_write_status: "err" })).to.deep.equal([
      {
        check: "append-only file",
        severity: "problem",
        message: "could not be written",
        advice:
          "look at the log of Redis; if its disk was full, run redis-cli BGREWRITEAOF before it restarts",
      },
    ]);
  });

  it("is a problem where the version is too old", () => {
    for (const [version, isOld] of [
      ["5.0.14", true],
      ["6.0.20", true],
      ["6.2.0", false],
      ["7.4.0", false],
    ] as const) {
      const old = {
        check: "Redis",
        severity: "problem",
        message: `version ${version} is too old`,
        advice: "install Redis 6.2 or newer",
      };
      expect(found({ redis_version: version })).to.deep.equal(isOld ? [old] : []);
    }
    const [newer] = found({ redis_version: "10.1.0" });
    expect(newer, "newer than what was tested").to.include({ check: "Redis", severity: "note" });
  });

  it("is a problem where memory is nearly used up, and a note where it has no limit", () => {
    expect(found({}, 0.81)).to.deep.equal([
      {
        check: "memory of Redis",
        severity: "problem",
        message: "81 % used",
        advice: "raise maxmemory, or find what waits: a full Redis accepts nothing",
      },
    ]);
    expect(found({ maxmemory: "0" })).to.deep.equal([
      {
        check: "memory of Redis",
        severity: "note",
        message: "50 % used of the machine's, without a limit",
        advice: "set maxmemory, so that Redis rejects work before the kernel kills it",
      },
    ]);
  });

  it("is a problem of a cluster if one of its masters has it", () => {
    const last = {
      maxmemory_policy: "volatile-ttl",
      aof_enabled: "0",
      redis_version: "6.0.0",
      maxmemory: "0",
    };
    const severities = judgeRedis([info(), info(), info(last)], 0.5).map(({ severity }) => severity);
    expect(severities).to.deep.equal(["problem", "problem", "problem", "note"]);
  });
});
