import type { Middleware } from "koa";
import type { Platform } from "./platform.ts";
import { probeRedis } from "./store/redis.ts";

type HealthPlatform = Pick<Platform, "redis" | "mongo" | "keys">;

/** What is not ready, by name; empty when all is. Tests a write: PING answers even when Redis is full (design.md). */
export async function unready({ redis, mongo, keys }: HealthPlatform): Promise<Record<string, string>> {
  const checks: Record<string, Promise<unknown>> = {
    redis: probeRedis(redis, keys.writeProbe()),
    mongodb:
      mongo.db
        ?.admin()
        .command({ hello: 1 })
        .then(hello => {
          if (!hello.isWritablePrimary) throw new Error("no primary");
        }) ?? Promise.reject(new Error("not connected")),
  };
  const found: Record<string, string> = {};
  for (const [name, check] of Object.entries(checks)) {
    await check.catch((error: unknown) => {
      found[name] = error instanceof Error ? error.message : String(error);
    });
  }
  return found;
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
