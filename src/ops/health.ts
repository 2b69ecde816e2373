import type { Middleware } from "koa";
import { cachedFor } from "../lib/cached-for.ts";
import { withDeadline } from "../lib/deadline.ts";
import { LIMITS } from "../limits/catalogue.ts";
import type { Platform } from "../platform.ts";
import { probeMongo } from "../store/probe-mongo.ts";
import { probeRedis } from "../store/probe-redis.ts";
import { mayInspect } from "./may-inspect.ts";

type HealthDeps = Pick<Platform, "redis" | "mongo" | "keys">;

/** A store that hangs is not ready; a load balancer waits for the response no longer than a few of these. */
const DEADLINE_MS = 2000;

/**
 * Returns what is not ready, with the reason, by store; empty if everything is. Tests a write to each,
 * because PING and `hello` succeed even when a store is full (docs/design.md#stores).
 */
export async function unready({ redis, mongo, keys }: HealthDeps): Promise<Record<string, string>> {
  const probes: Record<string, Promise<unknown>> = {
    redis: probeRedis(redis, keys.writeProbe()),
    mongodb: probeMongo(mongo),
  };
  const failed = await Promise.all(
    Object.entries(probes).map(async ([store, probe]): Promise<[string, string][]> => {
      try {
        await withDeadline(probe, DEADLINE_MS);
        return [];
      } catch (error) {
        return [[store, error instanceof Error ? error.message : String(error)]];
      }
    }),
  );
  return Object.fromEntries(failed.flat());
}

type Check = () => ReturnType<typeof unready>;
const checks = new WeakMap<HealthDeps, Check>();

/** Returns what was not ready at most a moment ago, so that a flood of requests costs the stores no more than one. */
function recentlyUnready(platform: HealthDeps): ReturnType<typeof unready> {
  const check = checks.get(platform) ?? cachedFor(LIMITS.inspectionMs.value, () => unready(platform));
  checks.set(platform, check);
  return check();
}

/** A health response: `/healthz` says that the process is alive, `/readyz` that its stores take writes. */
export interface Health {
  status: 200 | 503;
  body: { status: "ok" } | { status: "ready" } | { status: "unready"; missing?: string[] };
}

/** Returns a health response as anybody may see it: whether the process is ready, and not which store it lacks. */
export const withoutDetails = ({ status, body }: Health): Health => ({
  status,
  body: body.status === "unready" ? { status: "unready" } : body,
});

/**
 * Returns the response for a health path; null for any other path. Web and workers share it; `alsoMissing` is what this kind
 * of process lacks beside its stores.
 */
export async function healthOf(
  platform: HealthDeps,
  path: string,
  alsoMissing: string[] = [],
): Promise<Health | null> {
  if (path === "/healthz") return { status: 200, body: { status: "ok" } };
  if (path !== "/readyz") return null;
  const missing = [...Object.keys(await recentlyUnready(platform)), ...alsoMissing];
  if (missing.length === 0) return { status: 200, body: { status: "ready" } };
  return { status: 503, body: { status: "unready", missing } };
}

/** Serves `/healthz` and `/readyz` in the web process; what is missing is shown to those who may inspect it. */
export function health(platform: HealthDeps & Pick<Platform, "config">): Middleware {
  return async (ctx, next) => {
    const found = await healthOf(platform, ctx.path);
    if (!found) return next();
    const { status, body } = mayInspect(ctx.req, platform.config.metricsToken)
      ? found
      : withoutDetails(found);
    ctx.status = status;
    ctx.body = body;
  };
}
