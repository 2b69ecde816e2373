import { expect } from "chai";
import type { Redis } from "ioredis";
import type { Connection } from "mongoose";
import { SetupError } from "../../../src/lib/errors.ts";
import { checkMongodbVersion, checkRedisVersion } from "../../../src/store/connections/server-versions.ts";

const redisOf = (version: string) =>
  ({ info: async () => `# Server\r\nredis_version:${version}\r\n` }) as unknown as Redis;
const mongoOf = (version: string) =>
  ({ getClient: () => ({ db: () => ({ command: async () => ({ version }) }) }) }) as unknown as Connection;

describe("the version of a store", () => {
  let warnings: string[];
  beforeEach(() => {
    warnings = [];
  });
  const warn = (line: string) => void warnings.push(line);
  const outcome = async (check: Promise<void>): Promise<string> => {
    try {
      await check;
      return "starts";
    } catch (error) {
      expect(error).to.be.instanceOf(SetupError);
      return (error as Error).message;
    }
  };

  it("stops the start if it is too old, with one line that names the setting", async () => {
    expect(await outcome(checkRedisVersion(redisOf("5.0.7"), warn))).to.equal(
      "REDIS_URL: Redis 5.0.7 is too old: install 6.2 or newer",
    );
    expect(await outcome(checkMongodbVersion(mongoOf("4.4.29"), warn))).to.equal(
      "MONGODB_URL: MongoDB 4.4.29 is too old: install 6.0 or newer",
    );
    expect(warnings).to.deep.equal([]);
  });

  it("is warned of if it is newer than those that were tested", async () => {
    expect(await outcome(checkRedisVersion(redisOf("8.2.1"), warn))).to.equal("starts");
    expect(await outcome(checkMongodbVersion(mongoOf("8.0.4"), warn))).to.equal("starts");
    expect(warnings).to.deep.equal([
      "Redis 8.2.1 is newer than 7.x, the newest tested version",
      "MongoDB 8.0.4 is newer than 6.x, the newest tested version",
    ]);
  });

  it("is not mentioned otherwise", async () => {
    expect(await outcome(checkRedisVersion(redisOf("7.0.15"), warn))).to.equal("starts");
    expect(await outcome(checkMongodbVersion(mongoOf("6.0.5"), warn))).to.equal("starts");
    expect(warnings).to.deep.equal([]);
  });
});
