import { Router, type RouterContext } from "@koa/router";
import type { Context, Middleware } from "koa";
import { AppError } from "../lib/errors.ts";
import { type Authenticate, authenticateCaller, loadResource, type Scope, scopeOf } from "./authorize.ts";
import type { Idempotency } from "./idempotency.ts";
import type { RateLimit } from "./rate-limit.ts";
import { createReadBody, type ReadBody } from "./read-body.ts";
import { compileInput, type Input } from "./read-input.ts";
import { requestState } from "./request-log.ts";
import type { AnyRoute, Caller } from "./route.ts";
import { compileResponseCheck, sendResponse } from "./send-response.ts";

export interface RouterOptions<Deps> {
  deps: Deps;
  /** Such as `/v1`. */
  prefix: string;
  authenticate: Authenticate;
  /** 1 MB unless told. */
  maxBodyBytes?: number;
  /** For tests: an response that does not fit its declaration becomes a 500. */
  checkResponses?: boolean;
  /** Counts a request of an API key; throws when it is one too many. */
  rateLimit?: RateLimit;
  /** Serves `Idempotency-Key` on POST. */
  idempotency?: Idempotency;
}

const NOBODY: Scope = { owner: "", owners: [] };

/** A public route has no caller: whoever asks for it has declared the wrong access. */
function callerOf(caller: Caller | undefined, route: AnyRoute): Caller {
  if (!caller) throw new Error(`${route.id} is public and has no caller`);
  return caller;
}

/** Serves one route, in this order: key, rate, input, organization, resource, handler. */
function serve<Deps>(route: AnyRoute<Deps>, options: RouterOptions<Deps>, readBody: ReadBody) {
  const readInput = compileInput(route, readBody);
  const check = options.checkResponses ? compileResponseCheck(route.id, route.response) : undefined;

  const act = async (ctx: Context, input: Input, caller: Caller | undefined) => {
    const { requestId, log } = requestState(ctx);
    const scope = caller ? scopeOf(route, caller, input) : NOBODY;
    const resource = await loadResource(route, options.deps, input.params, scope.owners);
    const { params, query, body, page } = input;
    const handle = async () => {
      ctx.status = route.response.status;
      const result = await route.handler({
        deps: options.deps,
        params,
        query,
        body,
        ...scope,
        resource,
        page,
        ctx,
        requestId,
        log,
        get caller() {
          return callerOf(caller, route);
        },
      });
      check?.(result);
      sendResponse(ctx, route.response, result, input.filter);
    };
    if (!options.idempotency || !caller || route.method !== "POST") return handle();
    await options.idempotency(
      ctx,
      { keyId: caller.keyId, routeId: route.id, request: { params, query, body } },
      handle,
    );
  };

  return async (ctx: RouterContext) => {
    const state = requestState(ctx);
    state.route = options.prefix + route.path;
    // Answers belong to the bearer of a key; no cache on the way may keep them.
    ctx.set("Cache-Control", "no-store");
    let caller: Caller | undefined;
    if (route.access.kind !== "public") {
      caller = await authenticateCaller(ctx, options.authenticate);
      state.userId = caller.userId;
      await options.rateLimit?.(ctx, caller.keyId);
    }
    await act(ctx, await readInput(ctx, { ...ctx.params }), caller);
  };
}

/** `/things/{id}` in the router's own spelling; `$errors` may come percent-encoded. */
function patterns(prefix: string, path: string): string[] {
  const pattern = prefix + path.replaceAll(/\{(\w+)\}/g, ":$1");
  return pattern.includes("$") ? [pattern, pattern.replaceAll("$", "%24")] : [pattern];
}

const parameterCount = (route: { path: string }) => route.path.split("{").length;

/** A path that exists is not served by this method: OPTIONS hears which are, all others are refused with them. */
function refuseMethod(ctx: Context, methods: Set<string>): void {
  ctx.set("Allow", [...methods, "OPTIONS"].join(", "));
  if (ctx.method !== "OPTIONS") throw new AppError("method-not-allowed", `${ctx.method} is not served here`);
  ctx.status = 204;
}

/**
 * One middleware for all routes; what it does not know goes on to the next. Needs `requestLog` and `respondError`
 * before it. Throws for two routes of one id, or one method and path: a wiring mistake.
 */
export function createRouter<Deps>(
  routes: readonly AnyRoute<Deps>[],
  options: RouterOptions<Deps>,
): Middleware {
  const router = new Router({ sensitive: true });
  const readBody = createReadBody(options.maxBodyBytes ?? 1024 * 1024);
  const seen = new Set<string>();
  // Fixed paths before those with parameters, so that the order of the list does not matter.
  for (const route of [...routes].sort((a, b) => parameterCount(a) - parameterCount(b))) {
    for (const name of [route.id, `${route.method} ${route.path.replaceAll(/\{\w+\}/g, "{}")}`]) {
      if (seen.has(name)) throw new Error(`${name} is declared twice`);
      seen.add(name);
    }
    router.register(patterns(options.prefix, route.path), [route.method], serve(route, options, readBody));
  }
  const dispatch = router.routes();
  return (ctx, next) =>
    dispatch(ctx as RouterContext, () => {
      const methods = new Set(router.match(ctx.path, ctx.method).path.flatMap(layer => layer.methods));
      return methods.size > 0 ? Promise.resolve(refuseMethod(ctx, methods)) : next();
    });
}
