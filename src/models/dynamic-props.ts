import { Schema } from "mongoose";
import { collection, schemaOptions } from "../store/mongo.ts";

/** What a component's `additionalProps` returned for a form, until a source is deployed with it. */
export interface StoredDynamicProps {
  _id: string;
  owner_id: string;
  component_id: string;
  /** JSON of `DynamicProps`, encrypted, because it was made with the account's credentials. */
  sealed: string;
  expires_at: Date;
}

export const DynamicPropsRows = collection<StoredDynamicProps>(
  "dynamic_props",
  new Schema<StoredDynamicProps>(
    {
      _id: { type: String, required: true },
      owner_id: { type: String, required: true },
      component_id: { type: String, required: true },
      sealed: { type: String, required: true },
      expires_at: { type: Date, required: true },
    },
    schemaOptions,
  )
    .index({ owner_id: 1, _id: -1 })
    .index({ expires_at: 1 }, { expireAfterSeconds: 0 }),
);
