import { Type } from "typebox";
import { AppError } from "./errors.ts";

/**
 * What an API key may do of what its user may: `read` is for those who only look, as a viewer sees it; `publish` for programs that
 * send events and see nothing; `full` for the rest (docs/rest-api.md#access-of-a-key).
 */
export const KEY_ACCESS = ["read", "publish", "full"] as const;
export type KeyAccess = (typeof KEY_ACCESS)[number];

export const KeyAccessSchema = Type.Unsafe<KeyAccess>({
  type: "string",
  enum: [...KEY_ACCESS],
  description:
    "`full`: everything that its user may. `read`: reads what a viewer of an organization may read. `publish`: publishes events, and " +
    "nothing else.",
});

/**
 * How a key is used: sent as a bearer token to the whole API, as a part of an address at which agents are served, or by the tokens that an
 * agent's host gets for a user's consent.
 */
export const KEY_KINDS = ["key", "connector_url", "oauth"] as const;
export type KeyKind = (typeof KEY_KINDS)[number];

/** Returns true if a key with an access may do what needs another one: `publish` does not include `read`. */
export const allowsAccess = (access: KeyAccess, needed: KeyAccess): boolean =>
  access === "full" || access === needed;

/** Returns the error for a key that has expired. */
export const keyExpired = (atMs: number): AppError =>
  new AppError("unauthenticated", `the API key expired at ${new Date(atMs).toISOString()}`);

/** Returns the error for a key whose access does not suffice. */
export const needsAccess = (access: KeyAccess, needed: KeyAccess): AppError =>
  new AppError("forbidden", `this needs an API key with the access ${needed}; this one has ${access}`);
