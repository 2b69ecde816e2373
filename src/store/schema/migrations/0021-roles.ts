import { createIndexes } from "../indexes.ts";
import type { Migration } from "../migration.ts";

/**
 * The owners of an organization, and the organizations that a user made by the API. Roles themselves need no step: a row without
 * one means what it meant.
 */
export const roles: Migration = {
  number: 21,
  name: "roles of members",
  kind: "expand",
  run: context =>
    createIndexes(context, {
      memberships: [{ key: { org_id: 1, role: 1, _id: 1 }, name: "org_id_1_role_1__id_1" }],
      organizations: [{ key: { created_by: 1 }, name: "created_by_1" }],
    }),
};
