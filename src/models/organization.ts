import { Schema } from "mongoose";
import { collection, schemaOptions } from "../store/mongo.ts";

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
