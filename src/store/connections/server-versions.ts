import type { Connection } from "mongoose";
import { SetupError } from "../../lib/errors.ts";
import { judgeVersion, SUPPORTED, type Supported } from "../../lib/versions.ts";
import { fieldOf, infoOfMasters, type RedisClient } from "./redis.ts";

/** Called with a line about a server that is newer than those that were tested. */
export type WarnOfVersion = (line: string) => void;

/** Throws SetupError if a Redis master is too old; warns of one that is newer than tested. */
export async function checkRedisVersion(redis: RedisClient, warn: WarnOfVersion): Promise<void> {
  const infos = await infoOfMasters(redis, "server");
  const versions = infos.map(info => fieldOf(info, "redis_version") ?? "");
  check("REDIS_URL", SUPPORTED.redis, versions, warn);
}

/** Throws SetupError if MongoDB is too old; warns of one that is newer than tested. */
export async function checkMongodbVersion(mongo: Connection, warn: WarnOfVersion): Promise<void> {
  const { version } = await mongo.getClient().db("admin").command({ buildInfo: 1 });
  check("MONGODB_URL", SUPPORTED.mongodb, [String(version)], warn);
}

function check(setting: string, supported: Supported, versions: string[], warn: WarnOfVersion): void {
  const verdicts = versions.map(version => judgeVersion(supported, version));
  for (const verdict of verdicts)
    if (verdict.is === "old") throw new SetupError(`${setting}: ${verdict.message}`);
  const untested = verdicts.find(({ is }) => is === "untested");
  if (untested?.is === "untested") warn(untested.message);
}
