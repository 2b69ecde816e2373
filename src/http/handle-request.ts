import type { Context } from "koa";
import { loadResource, scopeOf, seesSecrets } from "./authorize.ts";
import { type RecordChange, RequestChange } from "./changes.ts";
import { checkIfMatch } from "./preconditions.ts";
import type { Input } from "./read-input.ts";
import { requestState } from "./request-log.ts";
import type { AnyRoute, Caller } from "./route.ts";
import { responseCheck } from "./send-response.ts";

export interface HandleOptions<Deps> {
  deps: Deps;
  /** For tests: a response that does not match its declaration becomes a 500. */
  checkResponses?: boolean;
  /** Writes what requests have changed to the audit log, before they are responded to. */
  recordChange?: RecordChange;
}

/** A request of a route whose caller is known and whose input is checked. */
export interface Asked {
  ctx: Context;
  input: Input;
  /** Absent on a public route. */
  caller: Caller | undefined;
}

/** A request that may do what it asks for. */
export interface Allowed<Deps> {
  /** The account that it acts for; "" without a caller. */
  owner: string;
  /** Calls the route's handler and keeps what it changed in the audit log; returns its result. */
  handle: () => Promise<unknown>;
  /** Returns what another route shows of the resource with this id, to the same caller. */
  read: (route: AnyRoute<Deps>, id: string) => Promise<unknown>;
}

/** Authorizes a request of the route. Throws what its caller is told. */
export type Authorize<Deps> = (asked: Asked) => Promise<Allowed<Deps>>;

const NO_ACCOUNTS = { owner: "", owners: [], barred: [] };

/** Throws on a public route, which has no caller: a handler that needs one has declared the wrong access. */
function callerOf(caller: Caller | undefined, route: AnyRoute): Caller {
  if (!caller) throw new Error(`${route.id} is public and has no caller`);
  return caller;
}

/**
 * Returns what every request of a route goes through once its input is read, whichever door it came in by: organization and
 * role, resource, handler, audit log.
 */
export function authorizeFor<Deps>(route: AnyRoute<Deps>, options: HandleOptions<Deps>): Authorize<Deps> {
  const { deps } = options;
  const check = options.checkResponses ? responseCheck(route.id, route.response) : undefined;

  return async ({ ctx, input, caller }) => {
    const { requestId, log } = requestState(ctx);
    const scope = caller ? scopeOf(route, caller, input) : NO_ACCOUNTS;
    if (route.access.kind === "operator") await route.access.check(deps, callerOf(caller, route).userId);
    const resource = await loadResource(route, deps, input.params, scope);
    checkIfMatch(ctx, route, resource);
    const { query, body, bodyText, page } = input;
    const change = new RequestChange(route, scope.owner, caller);
    const call = (called: AnyRoute<Deps>, named: { params: Input["params"]; resource: unknown }) =>
      called.handler({
        deps,
        query,
        body,
        bodyText,
        owner: scope.owner,
        owners: scope.owners,
        ...named,
        seesSecrets: ownerId => caller !== undefined && seesSecrets(caller, ownerId),
        page,
        changes: note => change.note(note),
        ctx,
        requestId,
        log,
        get caller() {
          return callerOf(caller, called);
        },
      });
    return {
      owner: scope.owner,
      async handle() {
        ctx.status = route.response.status;
        const result = await call(route, { params: input.params, resource });
        const made = change.made(ctx, { input, resource, result });
        if (made) await options.recordChange?.(made);
        check?.(result);
        return result;
      },
      async read(other, id) {
        return await call(other, {
          params: { id },
          resource: await loadResource(other, deps, { id }, scope),
        });
      },
    };
  };
}
