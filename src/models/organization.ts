import { Schema } from "mongoose";
import { collection, schemaOptions } from "../store/connections/mongo.ts";

export interface Organization {
  _id: string;
  name: string;
  orgname: string;
  email: string;
  owner_id: string;
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
      created_at: { type: Number, required: true },
    },
    schemaOptions,
  ),
);

export interface Membership {
  /** `<org id>-<user id>`, so that a user is a member only once. */
  _id: string;
  org_id: string;
  user_id: string;
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
      created_at: { type: Number, required: true },
      by_rule: Boolean,
    },
    schemaOptions,
  ).index({ org_id: 1, _id: 1 }),
);

/** An offer to become a member of an organization, for the user who has this email address, now or later. */
export interface Invitation {
  _id: string;
  org_id: string;
  /** In lower case, as users' addresses are. */
  email: string;
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
