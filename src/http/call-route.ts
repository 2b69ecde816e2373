import type { Context } from "koa";
import { stringifyJson } from "../lib/json-text.ts";
import { openPer } from "../lib/lazy.ts";
import { requireKeyAccess } from "./authorize.ts";
import { authorizeFor, type HandleOptions } from "./handle-request.ts";
import { compileInput } from "./read-input.ts";
import type { AnyRoute, Caller } from "./route.ts";
import { envelopeOf } from "./send-response.ts";

/** What a caller gives a route without a request of its own. */
export interface Given {
  /** The request that the call is made for. */
  ctx: Context;
  caller: Caller;
  params: Record<string, string>;
  /** Query parameters and body fields, as they may be in the body of a request. */
  fields: Record<string, unknown>;
  /** The organization in which the call takes effect. */
  orgId: string | undefined;
}

/** Returns what the route responds with, in its envelope; null if it has no body. Throws what a request would be rejected with. */
export type CallRoute<Deps> = (route: AnyRoute<Deps>, given: Given) => Promise<object | null>;

/**
 * Returns a function that calls routes inside this process. A call passes what a request of the route passes: the same checks
 * of its input, the same authorization, the same entry of the audit log. Who calls has been authenticated and counted.
 */
export function createCallRoute<Deps>(options: HandleOptions<Deps>): CallRoute<Deps> {
  const authorizeOf = openPer((route: AnyRoute<Deps>) => authorizeFor(route, options));
  return async (route, { ctx, caller, params, fields, orgId }) => {
    requireKeyAccess(route, caller, params);
    const input = await compileInput(route)({
      params,
      queryString: orgId === undefined ? "" : new URLSearchParams({ org_id: orgId }).toString(),
      readBody: async () => ({ fields, text: stringifyJson(fields) }),
    });
    try {
      const { handle } = await authorizeOf(route)({ ctx, input, caller });
      return envelopeOf(route.response, await handle(), input);
    } catch (error) {
      throw input.located(error);
    }
  };
}
