import { Schema } from "mongoose";
import { ROLES, type Role } from "../lib/roles.ts";
import { collection, schemaOptions } from "../store/connections/mongo.ts";

export interface Organization {
  _id: string;
  name: string;
  orgname: string;
  email: string;
  /** One of its owners, whose plan is the organization's. */
  owner_id: string;
  /** The user who made it by the API, whose plan bounds how many there are; absent if the operator did. */
  created_by?: string;
  /** Counts changes of members and roles, so that two at once conflict. */
  member_changes?: number;
  created_at: number;
}

export const Organizations = collection<Organization>(
  "organizations",
  new Schema<Organization>(
    {
      _id: { type: String, required: true },
      name: { type: String, required: true },
      orgname: { type: String, required: true, unique: true },
      email: { type: String, required: true },
      owner_id: { type: String, required: true },
      created_by: { type: String, default: undefined },
      member_changes: { type: Number, default: undefined },
      created_at: { type: Number, required: true },
    },
    schemaOptions,
  ).index({ created_by: 1 }),
);

/** Returns the id of a user's membership. */
export const membershipId = (orgId: string, userId: string): string => `${orgId}-${userId}`;

export interface Membership {
  /** `membershipId`, so that a user is a member only once. */
  _id: string;
  org_id: string;
  user_id: string;
  /** Absent in a row of a release before roles (`roleOf`). */
  role?: Role;
  created_at: number;
  /** True for one that a rule of `OIDC_ALLOW` gave, and takes away when it no longer holds. */
  by_rule?: boolean;
}

export const Memberships = collection<Membership>(
  "memberships",
  new Schema<Membership>(
    {
      _id: { type: String, required: true },
      org_id: { type: String, required: true },
      user_id: { type: String, required: true, index: true },
      role: { type: String, default: undefined, enum: ROLES },
      created_at: { type: Number, required: true },
      by_rule: Boolean,
    },
    schemaOptions,
  )
    .index({ org_id: 1, _id: 1 })
    .index({ org_id: 1, role: 1, _id: 1 }),
);

/** An offer to become a member of an organization, for the user who has this email address, now or later. */
export interface Invitation {
  _id: string;
  org_id: string;
  /** In lower case, as users' addresses are. */
  email: string;
  /** What its user becomes; absent in a row of a release before roles, which means a member. */
  role?: Role;
  /** The user who made it. */
  invited_by: string;
  created_at: number;
  expires_at: Date;
  /** Unix seconds; an accepted invitation is kept for a repeated request, and does nothing any more. */
  accepted_at?: number | null;
}

export const Invitations = collection<Invitation>(
  "invitations",
  new Schema<Invitation>(
    {
      _id: { type: String, required: true },
      org_id: { type: String, required: true },
      email: { type: String, required: true },
      role: { type: String, default: undefined, enum: ROLES },
      invited_by: { type: String, required: true },
      created_at: { type: Number, required: true },
      expires_at: { type: Date, required: true },
      accepted_at: { type: Number, default: null },
    },
    schemaOptions,
  )
    .index({ org_id: 1, email: 1 }, { unique: true })
    .index({ org_id: 1, _id: -1 })
    .index({ email: 1, _id: -1 })
    .index({ expires_at: 1 }, { expireAfterSeconds: 0 }),
);
