import type { Middleware } from "koa";
import type { Platform } from "../platform.ts";
import { probeRedis } from "../store/redis.ts";

type HealthPlatform = Pick<Platform, "redis" | "mongo" | "keys">;

/** A store that hangs is not ready; a router in front waits for its answer no longer than a few of these. */
const DEADLINE_MS = 2000;

/** What is not ready, by name; empty when all is. Tests a write: PING answers even when Redis is full (design.md). */
export async function unready({ redis, mongo, keys }: HealthPlatform): Promise<Record<string, string>> {
  const checks: Record<string, Promise<unknown>> = {
    redis: probeRedis(redis, keys.writeProbe()),
    mongodb: probeMongo(mongo),
  };
  const found = await Promise.all(
    Object.entries(checks).map(async ([name, check]): Promise<[string, string][]> => {
      try {
        await inTime(check);
        return [];
      } catch (error) {
        return [[name, error instanceof Error ? error.message : String(error)]];
      }
    }),
  );
  return Object.fromEntries(found.flat());
}

async function probeMongo(mongo: HealthPlatform["mongo"]): Promise<void> {
  if (!mongo.db) throw new Error("not connected");
  const hello = await mongo.db.admin().command({ hello: 1 });
  if (!hello.isWritablePrimary) throw new Error("no primary");
}

async function inTime(check: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${DEADLINE_MS} ms`)), DEADLINE_MS);
  });
  await Promise.race([check, late]).finally(() => clearTimeout(timer));
}

/** `/healthz`: the process is alive. `/readyz`: its stores take writes; 503 and which one does not. */
export function health(platform: HealthPlatform): Middleware {
  return async (ctx, next) => {
    if (ctx.path === "/healthz") {
      ctx.body = { status: "ok" };
      return;
    }
    if (ctx.path !== "/readyz") return next();
    const missing = Object.keys(await unready(platform));
    ctx.status = missing.length === 0 ? 200 : 503;
    ctx.body = missing.length === 0 ? { status: "ready" } : { status: "unready", missing };
  };
}
