import type { Middleware } from "koa";
import { withDeadline } from "../lib/deadline.ts";
import type { Platform } from "../platform.ts";
import { probeRedis } from "../store/redis.ts";

type HealthPlatform = Pick<Platform, "redis" | "mongo" | "keys">;

/** A store that does not respond within this time is not ready. Load balancers wait for a health check only seconds. */
const DEADLINE_MS = 2000;

/**
 * Returns the reason for each store that is not ready, by the name of the store; empty if all are ready. Redis is
 * tested with a write, because PING succeeds even if Redis is full (docs/design.md#stores).
 */
export async function unready({ redis, mongo, keys }: HealthPlatform): Promise<Record<string, string>> {
  const checks: Record<string, Promise<unknown>> = {
    redis: probeRedis(redis, keys.writeProbe()),
    mongodb: probeMongo(mongo),
  };
  const found = await Promise.all(
    Object.entries(checks).map(async ([name, check]): Promise<[string, string][]> => {
      try {
        await withDeadline(check, DEADLINE_MS);
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

/**
 * Serves `/healthz` (the process is alive) and `/readyz` (200 if all stores accept writes; 503 with those that don't).
 */
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
