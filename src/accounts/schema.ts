import { Type } from "typebox";
import { ROLES, type Role } from "../lib/roles.ts";

/** What a member of an organization may do there (docs/rest-api.md#roles). */
export const RoleSchema = Type.Unsafe<Role>({
  type: "string",
  enum: [...ROLES],
  description:
    "`viewer`: reads everything but what lets a stranger in. `member`: also changes and runs what the organization owns. `owner`: " +
    "also decides who its members are, and what it is called.",
});
