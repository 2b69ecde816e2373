import type { Context } from "koa";
import { AppError, invalidField, notFound } from "../lib/errors.ts";
import type { Input } from "./read-input.ts";
import type { AnyRoute, Caller } from "./route.ts";

/** Who the key belongs to; null for a key that is not known. */
export type Authenticate = (apiKey: string) => Promise<Caller | null>;

const BEARER = /^Bearer +([\x21-\x7e]{1,512})$/i;

/** The caller of the request's API key; throws `unauthenticated` when there is none (rest-api.md section 5). */
export async function authenticateCaller(ctx: Context, authenticate: Authenticate): Promise<Caller> {
  const header = ctx.get("authorization").trim();
  const key = BEARER.exec(header)?.[1];
  if (!key) {
    throw new AppError(
      "unauthenticated",
      "the header Authorization: Bearer <API key> is missing or malformed",
    );
  }
  const caller = await authenticate(key);
  if (!caller) throw new AppError("unauthenticated", "the API key is not known");
  return caller;
}

/** For whom a request acts, and whose things it may touch. */
export interface Scope {
  owner: string;
  owners: string[];
}

/**
 * Organization rules of rest-api.md section 4.1: an organization given by path or by `org_id` narrows the request to
 * it. Throws 404 for one that the caller is no member of, as if it did not exist.
 */
export function scopeOf(route: AnyRoute, caller: Caller, input: Pick<Input, "params" | "orgId">): Scope {
  const pathOrg = route.access.kind === "member" ? input.params.org_id : undefined;
  const named = [pathOrg, input.orgId].filter(id => id !== undefined);
  if (named.some(id => !caller.orgIds.includes(id))) throw notFound("organization");
  if (named.length === 2 && named[0] !== named[1]) {
    throw invalidField("query", "org_id", "is another organization than the path's");
  }
  const [orgId] = named;
  return orgId
    ? { owner: orgId, owners: [orgId] }
    : { owner: caller.userId, owners: [caller.userId, ...caller.orgIds] };
}

/** The thing that the path names; throws 404 when none of `owners` has it. Undefined on routes without one. */
export async function loadResource<Deps>(
  route: AnyRoute<Deps>,
  deps: Deps,
  params: Record<string, string>,
  owners: string[],
): Promise<unknown> {
  const { access } = route;
  if (access.kind !== "resource") return undefined;
  const resource = await access.load(deps, params[access.param ?? "id"] ?? "", owners);
  if (resource === null) throw notFound(access.what);
  return resource;
}
