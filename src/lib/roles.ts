import { Type } from "typebox";
import { AppError } from "./errors.ts";

/**
 * What a member of an organization may do there, each what those before it may, too: a viewer reads, a member changes and
 * runs what the organization owns, an owner also decides who its members are (docs/rest-api.md#roles).
 */
export const ROLES = ["viewer", "member", "owner"] as const;
export type Role = (typeof ROLES)[number];

export const RoleSchema = Type.Unsafe<Role>({
  type: "string",
  enum: [...ROLES],
  description:
    "`viewer`: reads everything but what lets a stranger in. `member`: also changes and runs what the organization owns. `owner`: " +
    "also decides who its members are, and what it is called.",
});

/** Returns true if a role may do what needs another one; who has none may do nothing. */
export const suffices = (role: Role | undefined, needed: Role): boolean =>
  role !== undefined && ROLES.indexOf(role) >= ROLES.indexOf(needed);

/** Returns the error for a member whose role does not suffice. Members know of the organization: 404 would hide nothing. */
export const needsRole = (needed: Role): AppError =>
  new AppError("forbidden", `this needs the role ${needed} in the organization`);
