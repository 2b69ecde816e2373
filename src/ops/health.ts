import type { IncomingMessage } from "node:http";
import type { Middleware } from "koa";
import { isSameSecret } from "../lib/ids.ts";
import { cachedFor, openPer } from "../lib/lazy.ts";
import { withDeadline } from "../lib/time.ts";
import { LIMITS } from "../limits/catalogue.ts";
import type { Stores } from "../platform.ts";
import { probeMongo } from "../store/connections/mongo-setup.ts";
import { probeRedis } from "../store/connections/probe-redis.ts";
import { SCHEMA } from "../store/schema/migrations.ts";
import { readState, schemaProblem } from "../store/schema/state.ts";

/** A store that hangs is not ready; a load balancer waits for the response no longer than a few of these. */
const DEADLINE_MS = 2000;

/** What a look at the stores showed. */
interface Readiness {
  /** What is not ready, with the reason, by store; empty if everything is. */
  missing: Record<string, string>;
  /** The schema of the database; null if it could not be read. */
  schema: number | null;
}

/**
 * Looks at both stores. Tests a write to each, because PING and `hello` succeed even when a store is full
 * (docs/design.md#stores). The schema is missing once a newer release has removed what this one needs.
 */
export async function readiness({ redis, mongo, keys }: Stores): Promise<Readiness> {
  const probes: Record<string, Promise<unknown>> = {
    redis: probeRedis(redis, keys.writeProbe()),
    mongodb: probeMongo(mongo),
  };
  const reading = withDeadline(mongo.db ? readState(mongo.db) : Promise.resolve(null), DEADLINE_MS).catch(
    () => null,
  );
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
  const state = await reading;
  const fault = state ? schemaProblem(state, SCHEMA) : undefined;
  const missing = { ...Object.fromEntries(failed.flat()), ...(fault !== undefined && { schema: fault }) };
  return { missing, schema: state?.version ?? null };
}

/** Returns what a look at most a moment ago showed, so that a flood of requests costs the stores no more than one. */
const recentReadiness = openPer((platform: Stores) =>
  cachedFor(LIMITS.inspectionMs.value, () => readiness(platform)),
);

/** A health response: `/healthz` says that the process is alive, `/readyz` that its stores take writes. */
export interface Health {
  status: 200 | 503;
  body:
    | { status: "ok" }
    | { status: "ready"; schema?: { database: number; release: number } }
    | { status: "unready"; missing?: string[] };
}

/** Returns a health response as anybody may see it: whether the process is ready, and not what it lacks or has. */
export const withoutDetails = ({ status, body }: Health): Health => ({
  status,
  body: { status: body.status } as Health["body"],
});

/**
 * Returns the response for a health path; null for any other path. Web and workers share it; `alsoMissing` is what this kind
 * of process lacks beside its stores.
 */
export async function healthOf(
  platform: Stores,
  path: string,
  alsoMissing: string[] = [],
): Promise<Health | null> {
  if (path === "/healthz") return { status: 200, body: { status: "ok" } };
  if (path !== "/readyz") return null;
  const { missing: stores, schema } = await recentReadiness(platform)();
  const missing = [...Object.keys(stores), ...alsoMissing];
  if (missing.length === 0) {
    const versions = schema === null ? {} : { schema: { database: schema, release: SCHEMA } };
    return { status: 200, body: { status: "ready", ...versions } };
  }
  return { status: 503, body: { status: "unready", missing } };
}

/** Serves `/healthz` and `/readyz` in the web process; what is missing is shown to those who may inspect it. */
export function health(platform: Stores): Middleware {
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

/** Returns true if a request carries `METRICS_TOKEN` as its bearer token. */
export function hasToken({ headers }: IncomingMessage, token: string): boolean {
  const given = /^Bearer +(\S+)$/i.exec(headers.authorization ?? "")?.[1];
  return given !== undefined && isSameSecret(given, token);
}

/**
 * Returns true if a request to the web process may read metrics and what is not ready (docs/design.md#configuration): only with
 * `METRICS_TOKEN`. A peer on this machine proves nothing, because it may be a proxy.
 */
export function mayInspect(request: IncomingMessage, token: string | undefined): boolean {
  return token !== undefined && hasToken(request, token);
}

/** The same for a worker's own port, which is not for the public: without a token set, anybody who can reach it. */
export function mayInspectWorker(request: IncomingMessage, token: string | undefined): boolean {
  return token === undefined || hasToken(request, token);
}
