import { Router, type RouterContext } from "@koa/router";
import type { Context, Middleware } from "koa";
import { requestTurns } from "../fairness/turns.ts";
import { AppError } from "../lib/errors.ts";
import { LIMITS } from "../limits/catalogue.ts";
import { type KeyGate, requireKeyAccess } from "./authorize.ts";
import { BodyShares } from "./body-shares.ts";
import { authorizeFor, type HandleOptions } from "./handle-request.ts";
import type { Idempotency } from "./idempotency.ts";
import { createReadBody, type ReadBody } from "./json-body.ts";
import { setEtag } from "./preconditions.ts";
import { compileInput, type Input, type ReadInput } from "./read-input.ts";
import { requestState } from "./request-log.ts";
import type { AnyRoute, Caller } from "./route.ts";
import { sendResponse } from "./send-response.ts";

export interface RouterOptions<Deps> extends HandleOptions<Deps> {
  /** Path prefix of all routes, such as `/v1`. */
  prefix: string;
  /** Finds the callers of requests. */
  gate: KeyGate;
  /** 1 MB by default. */
  maxBodyBytes?: number;
  /** Serves `Idempotency-Key` on POST. */
  idempotency?: Idempotency;
}

/**
 * Returns the handler of one route. Its order: API key, rate limit, access of the key, input, organization and role, resource, route
 * handler.
 */
function serve<Deps>(
  route: AnyRoute<Deps>,
  options: RouterOptions<Deps>,
  { readBody, read, bodies }: { readBody: ReadBody; read: AnyRoute<Deps> | undefined; bodies: BodyShares },
) {
  // At its first request: to compile the checks of all routes takes half a second of CPU time at each start.
  let readInput: ReadInput | undefined;
  const authorize = authorizeFor(route, options);

  const respond = async (ctx: Context, input: Input, caller: Caller | undefined) => {
    const allowed = await authorize({ ctx, input, caller });
    const send = (shown: AnyRoute<Deps>, result: unknown) => {
      setEtag(ctx, shown, result);
      sendResponse(ctx, shown.response, result, input);
    };
    const handle = async () => send(route, await allowed.handle());
    const reread = read && (async (id: string) => send(read, await allowed.read(read, id)));
    if (!options.idempotency || !caller || route.method !== "POST") return handle();
    const { params, query, bodyText } = input;
    await options.idempotency(
      ctx,
      {
        keyId: caller.keyId,
        ownerId: allowed.owner,
        routeId: route.id,
        request: { params, query, bodyText },
        reread,
      },
      handle,
    );
  };

  const openBody = async (ctx: Context, userId: string, maxBytes: number) => {
    try {
      await requestTurns.next(userId);
      const release = bodies.acquire(ctx, userId, maxBytes);
      requestTurns.chargeBytes(userId, ctx.request.length ?? 0);
      return release;
    } catch (error) {
      throw withAdvice(error, route.ownBounds);
    }
  };

  return async (ctx: RouterContext) => {
    const state = requestState(ctx);
    state.route = options.prefix + route.path;
    // Responses are private to the caller, so no cache on the way may store them.
    ctx.set("Cache-Control", "no-store");
    let caller: Caller | undefined;
    if (route.access.kind !== "public") {
      caller = await options.gate.caller(ctx, { isCounted: route.ownBounds === undefined });
      state.userId = caller.userId;
      requireKeyAccess(route, caller, ctx.params);
    }
    readInput ??= compileInput(route);
    const release = route.maxBodyBytes && caller && (await openBody(ctx, caller.userId, route.maxBodyBytes));
    try {
      const input = await readInput({
        params: { ...ctx.params },
        queryString: ctx.querystring,
        readBody: () => readBody(ctx),
      });
      await respond(ctx, input, caller).catch(error => {
        throw input.located(error);
      });
    } finally {
      if (release) release();
    }
  };
}

/** Adds to a rejection what its caller can do to be rejected less. */
function withAdvice(error: unknown, bounds: AnyRoute["ownBounds"]): unknown {
  if (!bounds || !(error instanceof AppError) || error.code !== "rate-limited") return error;
  const { retryAfterMs } = error;
  const message = `${error.message}; ${bounds.advice}`;
  return new AppError("rate-limited", message, { ...(retryAfterMs !== undefined && { retryAfterMs }) });
}

/** Converts `/things/{id}` to the router's patterns; `$errors` in a path may be percent-encoded. */
function patterns(prefix: string, path: string): string[] {
  const pattern = prefix + path.replaceAll(/\{(\w+)\}/g, ":$1");
  return pattern.includes("$") ? [pattern, pattern.replaceAll("$", "%24")] : [pattern];
}

/**
 * `/webhooks` for the list `/users/me/webhooks`: who creates something at a path also looks for the others there. The
 * OpenAPI document has the long path alone, so that a generated client has one function for each list.
 */
export function shortPath({ method, path, response }: AnyRoute, routes: readonly AnyRoute[]): string[] {
  const [, name] = /^\/users\/me(\/\w+)$/.exec(path) ?? [];
  const has = (wanted: string) => routes.some(other => other.method === wanted && other.path === name);
  const isList = response.kind === "list" || response.kind === "page";
  return name && method === "GET" && isList && has("POST") && !has("GET") ? [name] : [];
}

const parameterCount = (route: { path: string }) => route.path.split("{").length;

/** A stranger's body is kept small: nothing else bounds how many there are. */
function readBodyOf(route: AnyRoute, maxBodyBytes: number): ReadBody {
  if (route.access.kind !== "public") return createReadBody(Math.max(route.maxBodyBytes ?? 0, maxBodyBytes));
  return createReadBody(Math.min(LIMITS.publicBodyBytes.value, maxBodyBytes));
}

/** Responds to a method that the path does not support: OPTIONS lists the supported ones, any other is rejected. */
function rejectMethod(ctx: Context, methods: Set<string>): void {
  ctx.set("Allow", [...methods, "OPTIONS"].join(", "));
  if (ctx.method !== "OPTIONS") {
    throw new AppError("method-not-allowed", `this path does not support ${ctx.method}`);
  }
  ctx.status = 204;
}

/**
 * Returns one middleware for all routes; requests for other paths are passed on. Needs `requestLog` and `respondError`
 * before it. Throws if two routes have the same id, or the same method and path.
 */
export function createRouter<Deps>(
  routes: readonly AnyRoute<Deps>[],
  options: RouterOptions<Deps>,
): Middleware {
  const router = new Router({ sensitive: true });
  const maxBodyBytes = options.maxBodyBytes ?? 1024 * 1024;
  const bodies = new BodyShares();
  const declared = new Set<string>();
  // Paths without parameters come first, so that the order of the list does not matter.
  for (const route of [...routes].sort((a, b) => parameterCount(a) - parameterCount(b))) {
    for (const name of [route.id, `${route.method} ${route.path.replaceAll(/\{\w+\}/g, "{}")}`]) {
      if (declared.has(name)) throw new Error(`${name} is declared twice`);
      declared.add(name);
    }
    // What reads one resource that this route creates.
    const read = routes.find(({ method, path }) => method === "GET" && path === `${route.path}/{id}`);
    const readBody = readBodyOf(route, maxBodyBytes);
    const handler = serve(route, options, { readBody, read, bodies });
    const paths = [route.path, ...shortPath(route, routes)].flatMap(path => patterns(options.prefix, path));
    router.register(paths, [route.method], handler);
  }
  const dispatch = router.routes();
  return (ctx, next) =>
    dispatch(ctx as RouterContext, () => {
      const methods = new Set(router.match(ctx.path, ctx.method).path.flatMap(layer => layer.methods));
      return methods.size > 0 ? Promise.resolve(rejectMethod(ctx, methods)) : next();
    });
}
