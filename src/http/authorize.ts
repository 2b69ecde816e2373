import type { Context } from "koa";
import { AppError, invalidField, notFound } from "../lib/errors.ts";
import type { Input } from "./read-input.ts";
import type { AnyRoute, Caller } from "./route.ts";

/** Returns the user that an API key or a session's token belongs to; null for one that is unknown or revoked. */
export type Authenticate = (credential: string) => Promise<Caller | null>;

const BEARER = /^Bearer +([\x21-\x7e]{1,512})$/i;

/**
 * Returns the API key of a request. Throws `unauthenticated` if it is missing or malformed
 * (docs/rest-api.md#authentication).
 */
export function readKey(ctx: Context): string {
  const key = BEARER.exec(ctx.get("authorization").trim())?.[1];
  if (key) return key;
  throw new AppError("unauthenticated", "the header Authorization: Bearer <API key> is missing or malformed");
}

/** Returns every account that the caller can read: the user's own first, then the user's organizations. */
export const accountsOf = (caller: Caller): string[] => [caller.userId, ...caller.orgIds];

/** The accounts of a request. */
export interface Scope {
  /** The account that owns what the request creates or lists. */
  owner: string;
  /** The accounts whose resources the request may read and change. */
  owners: string[];
}

/**
 * Returns the accounts of a request: an organization given by path or by `org_id` narrows the request to it, otherwise
 * it covers the user and all of the user's organizations (docs/rest-api.md#organizations). Throws `not-found` for an
 * organization that the caller is not a member of, as if it did not exist (docs/design.md#guarantee-6), and `invalid`
 * if path and `org_id` name different organizations.
 */
export function scopeOf(route: AnyRoute, caller: Caller, input: Pick<Input, "params" | "orgId">): Scope {
  const pathOrg = route.access.kind === "member" ? input.params.org_id : undefined;
  const requested = [pathOrg, input.orgId].filter(id => id !== undefined);
  if (requested.some(id => !caller.orgIds.includes(id))) throw notFound("organization");
  if (requested.length === 2 && requested[0] !== requested[1]) {
    throw invalidField("query", "org_id", "must be the organization of the path");
  }
  const [orgId] = requested;
  return orgId ? { owner: orgId, owners: [orgId] } : { owner: caller.userId, owners: accountsOf(caller) };
}

/**
 * Returns the resource that the path names, or undefined if the route's path names none. Throws `not-found` if none of
 * `owners` owns it.
 */
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
