import { Type } from "typebox";

/** The field of what an account owns that names its organization (docs/rest-api.md#organizations). */
export const ShownOrgId = Type.Optional(
  Type.String({ description: "The organization that owns it; absent if the user does." }),
);

/** Returns the `org_id` of what this account owns, as responses show it: none for a user's. */
export const shownOrg = (ownerId: string): { org_id?: string } =>
  ownerId.startsWith("o_") ? { org_id: ownerId } : {};
