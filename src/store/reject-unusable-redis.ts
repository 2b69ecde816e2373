import { setTimeout as delay } from "node:timers/promises";
import { AppError } from "../lib/errors.ts";
import { probeChannels, rejectEviction } from "./probe-redis.ts";
import type { RedisClient } from "./redis.ts";
import { checkRedisVersion, type WarnOfVersion } from "./server-versions.ts";

/** Between two tries. Milliseconds. */
const AGAIN_MS = 200;

interface Options {
  /** A channel of ours without listeners. */
  channel: string;
  warn: WarnOfVersion;
  /** How long Redis may be away in the middle of a start. */
  deadlineMs: number;
}

/**
 * Looks at a Redis that a process is about to work with. Throws SetupError if it may evict keys or is too old, Redis' NOPERM error
 * if the user may not use channels, and `unavailable` if it is away until the deadline.
 */
export async function rejectUnusableRedis(
  redis: RedisClient,
  { channel, warn, deadlineMs }: Options,
): Promise<void> {
  const deadline = performance.now() + deadlineMs;
  for (;;) {
    try {
      await rejectEviction(redis);
      await probeChannels(redis, channel);
      return await checkRedisVersion(redis, warn);
    } catch (error) {
      const isAway = error instanceof AppError && error.code === "unavailable";
      if (!isAway || performance.now() >= deadline) throw error;
      await delay(AGAIN_MS);
    }
  }
}
