import { createHash } from "node:crypto";
import type { Context } from "koa";
import { LRUCache } from "lru-cache";
import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";
import { AppError, invalidField, notFound } from "../lib/errors.ts";
import { allowsAccess, type KeyAccess, keyExpired, needsAccess } from "../lib/key-access.ts";
import { needsRole, type Role, suffices } from "../lib/roles.ts";
import { LIMITS } from "../limits/catalogue.ts";
import { clientAddress, clientKey } from "./client-address.ts";
import type { RateLimit } from "./rate-limit.ts";
import type { Input } from "./read-input.ts";
import type { AnyRoute, Caller } from "./route.ts";

/** Returns the user that an API key or a session's token belongs to, with when it ends; null for one that is unknown or revoked. */
export type Authenticate = (credential: string) => Promise<Caller | null>;

const BEARER = /^Bearer +([\x21-\x7e]{1,512})$/i;

/**
 * Returns the API key of a request. Throws `unauthenticated` if it is missing or malformed
 * (docs/rest-api.md#authentication).
 */
function readKey(ctx: Context): string {
  const key = BEARER.exec(ctx.get("authorization").trim())?.[1];
  if (key) return key;
  throw new AppError("unauthenticated", "the header Authorization: Bearer <API key> is missing or malformed");
}

/** Returns the role that a route needs in the organization in which it acts. */
export function roleFor({ role, method, access: { kind } }: AnyRoute): Role {
  if (role) return role;
  const isInOrganization = kind === "owner" || kind === "member" || kind === "resource";
  return method === "GET" || !isInOrganization ? "viewer" : "member";
}

/** Returns the access that a route needs of an API key. */
export const keyAccessFor = ({ keyAccess, method }: AnyRoute): KeyAccess =>
  keyAccess ?? (method === "GET" ? "read" : "full");

/** A session has every access: only a key that has it begins one. */
const keyAccessOf = ({ key }: Caller): KeyAccess => key?.access ?? "full";

/**
 * Throws `forbidden` if the API key of a request has not the access that its route needs, or is bound to other emitters than the one
 * of its path. Nothing is looked up before: who found the key learns nothing of what else there is.
 */
export function requireKeyAccess(route: AnyRoute, caller: Caller, params: Record<string, string>): void {
  const [access, needed] = [keyAccessOf(caller), keyAccessFor(route)];
  if (!allowsAccess(access, needed)) throw needsAccess(access, needed);
  const emitterIds = caller.key?.emitterIds;
  const named = route.access.kind === "resource" ? params[route.access.param ?? "id"] : undefined;
  if (!emitterIds || emitterIds.includes(named ?? "")) return;
  throw new AppError("forbidden", "this API key may publish to the ids in its emitter_ids only");
}

/** Returns false for an organization that the caller only views, and for an API key that has not every access. */
export const seesSecrets = (caller: Caller, ownerId: string): boolean =>
  keyAccessOf(caller) === "full" && (ownerId === caller.userId || suffices(caller.roles[ownerId], "member"));

/** The accounts of a request. */
export interface Scope {
  /** The account that owns what the request creates or lists. */
  owner: string;
  /** The accounts whose resources the request may use: the user's own first, then organizations. */
  owners: string[];
  /** Organizations of the caller in which the role that the request needs is another one. */
  barred: string[];
}

/**
 * Returns the accounts of a request: an organization given by path or by `org_id` narrows the request to it, otherwise
 * it covers the user and all of the user's organizations (docs/rest-api.md#organizations). Throws `not-found` for an
 * organization that the caller is not a member of, as if it did not exist (docs/design.md#guarantee-6), `invalid`
 * if path and `org_id` name different organizations, and `forbidden` if the caller's role there does not suffice.
 */
export function scopeOf(route: AnyRoute, caller: Caller, input: Pick<Input, "params" | "orgId">): Scope {
  const pathOrg = route.access.kind === "member" ? input.params.org_id : undefined;
  const requested = [pathOrg, input.orgId].filter(id => id !== undefined);
  if (requested.some(id => !caller.orgIds.includes(id))) throw notFound("organization");
  if (requested.length === 2 && requested[0] !== requested[1]) {
    throw invalidField("query", "org_id", "must be the organization of the path");
  }
  const [orgId] = requested;
  const needed = roleFor(route);
  const isBarred = (id: string) => !suffices(caller.roles[id], needed);
  if (orgId !== undefined) {
    if (isBarred(orgId)) throw needsRole(needed);
    return { owner: orgId, owners: [orgId], barred: [] };
  }
  const barred = caller.orgIds.filter(isBarred);
  const owners = [caller.userId, ...caller.orgIds.filter(id => !barred.includes(id))];
  return { owner: caller.userId, owners, barred };
}

/**
 * Returns the resource that the path names, or undefined if the route's path names none. Throws `forbidden` if it is that of
 * an organization in which the caller's role does not suffice, and `not-found` if none of the caller's accounts owns it.
 */
export async function loadResource<Deps>(
  route: AnyRoute<Deps>,
  deps: Deps,
  params: Record<string, string>,
  { owners, barred }: Scope,
): Promise<unknown> {
  const { access } = route;
  if (access.kind !== "resource") return undefined;
  const id = params[access.param ?? "id"] ?? "";
  const resource = await access.load(deps, id, owners);
  if (resource !== null) return resource;
  if (barred.length > 0 && (await access.load(deps, id, barred)) !== null) throw needsRole(roleFor(route));
  throw notFound(access.what);
}

/** Keys that this process remembers, each as a digest. */
const REMEMBERED = 10_000;
/** Short, because a store that lags may not know a new key yet. */
const UNKNOWN_FOR_MS = 5_000;

export interface KeyGateOptions {
  authenticate: Authenticate;
  clock: () => number;
  /** Returns false for a text that can't be a key, which is then rejected without a look-up. */
  isKey: (text: string) => boolean;
  /** Returns the token of the request's session; undefined if it has none. Throws if the request may not use it. */
  readSession?: ((ctx: Context) => string | undefined) | undefined;
  /** Counts a request of a key; throws `rate-limited` if it exceeds the limit. */
  rateLimit: RateLimit | undefined;
}

/** What a request is authenticated with. */
interface Given {
  credential: string;
  /** The error for one that is not known. */
  unknown: () => AppError;
  /** The error for one that has ended. */
  ended: (atMs: number) => AppError;
  isCounted: boolean;
}

/**
 * Finds the callers of requests, by their API keys or, without one, their sessions, so that no flood reaches MongoDB: a key
 * (or the token of a session) that this process has seen is counted against its rate limit before it is looked up, and an address may have `LIMITS.unknownKeys` others looked up in a minute. What is
 * remembered is only that a key exists: each request still looks up whether it is valid, so that a revocation holds at once.
 */
export class KeyGate {
  readonly #options: KeyGateOptions;
  readonly #known = new LRUCache<string, string>({ max: REMEMBERED });
  readonly #unknown = new LRUCache<string, true>({ max: REMEMBERED, ttl: UNKNOWN_FOR_MS });
  readonly #lookUps = new RateLimiterMemory({ points: LIMITS.unknownKeys.value, duration: 60 });

  constructor(options: KeyGateOptions) {
    this.#options = options;
  }

  /**
   * Returns the caller of a request. Throws `unauthenticated` if its key is missing, malformed, unknown or revoked, or its
   * session has ended; `forbidden` if another site's page uses the session; and `rate-limited` for too many requests of a
   * key or a session, or too many unknown ones from an address. `isCounted`: whether the request counts for its key.
   */
  async caller(ctx: Context, { isCounted = true } = {}): Promise<Caller> {
    const usesSession = ctx.get("authorization") === "";
    const session = usesSession ? this.#options.readSession?.(ctx) : undefined;
    if (session !== undefined)
      return await this.#callerOf(ctx, { ...ofSession, credential: session, isCounted });
    return await this.bearer(ctx, { isCounted });
  }

  /** As `caller`, without sessions. `isToken`: what else than an API key may be sent. */
  async bearer(
    ctx: Context,
    { isCounted = true, isToken = () => false }: { isCounted?: boolean; isToken?: (text: string) => boolean },
  ): Promise<Caller> {
    const credential = readKey(ctx);
    if (!this.#options.isKey(credential) && !isToken(credential)) throw ofKey.unknown();
    return await this.#callerOf(ctx, { ...ofKey, credential, isCounted });
  }

  /** As `caller`, for a request whose address has the secret. Throws `not-found` for one that is unknown, revoked or has expired. */
  async callerAt(ctx: Context, secret: string): Promise<Caller> {
    return await this.#callerOf(ctx, { ...ofAddress, credential: secret, isCounted: true });
  }

  async #callerOf(ctx: Context, given: Given): Promise<Caller> {
    const { credential, unknown, isCounted } = given;
    const digest = createHash("sha256").update(credential).digest("base64");
    if (this.#unknown.has(digest)) throw unknown();
    const keyId = this.#known.get(digest);
    if (keyId === undefined) return await this.#callerOfNew(ctx, digest, given);
    if (isCounted) await this.#options.rateLimit?.(ctx, keyId);
    const caller = await this.#options.authenticate(credential);
    if (caller) return this.#live(caller, given);
    this.#known.delete(digest);
    throw unknown();
  }

  async #callerOfNew(ctx: Context, digest: string, given: Given): Promise<Caller> {
    const { credential, unknown, isCounted } = given;
    const client = clientKey(clientAddress(ctx));
    await this.#countLookUp(client);
    let isMiss = false;
    try {
      const caller = await this.#options.authenticate(credential);
      isMiss = caller === null;
      if (!caller) {
        this.#unknown.set(digest, true);
        throw unknown();
      }
      this.#known.set(digest, caller.keyId);
      if (isCounted) await this.#options.rateLimit?.(ctx, caller.keyId);
      return this.#live(caller, given);
    } finally {
      if (!isMiss) await this.#lookUps.reward(client);
    }
  }

  /** At each request, since what is cached of a caller may have ended in between. */
  #live(caller: Caller, { ended }: Given): Caller {
    const { endsAtMs } = caller;
    if (endsAtMs === undefined || this.#options.clock() < endsAtMs) return caller;
    throw ended(endsAtMs);
  }

  /** Before the look-up, so that concurrent ones count too. */
  async #countLookUp(client: string): Promise<void> {
    try {
      await this.#lookUps.consume(client);
    } catch (thrown) {
      if (!(thrown instanceof RateLimiterRes)) throw thrown;
      throw new AppError("rate-limited", "too many unknown API keys from this address", {
        retryAfterMs: Math.max(1, thrown.msBeforeNext),
      });
    }
  }
}

const ofKey = {
  unknown: () => new AppError("unauthenticated", "the API key is unknown or revoked"),
  ended: keyExpired,
};
const noAddress = () => new AppError("not-found", "this address is unknown or revoked, or has expired");
const ofAddress = { unknown: noAddress, ended: noAddress };
const sessionEnded = () => new AppError("unauthenticated", "the session has ended: sign in again");
const ofSession = { unknown: sessionEnded, ended: sessionEnded };
