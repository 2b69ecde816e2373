import { Schema } from "mongoose";
import { collection, schemaOptions } from "../store/connections/mongo.ts";
import { REVISED, type Revised } from "../store/revisions.ts";

/** The platform knows only a workflow's id, owner and name; a workflow engine runs it (docs/rest-api.md#workflows). */
export interface Workflow extends Revised {
  _id: string;
  owner_id: string;
  name: string;
  created_at: number;
  /** Absent until it is changed for the first time. */
  updated_at?: number;
}

/** The fields by whose text a list finds a workflow. */
export const WORKFLOW_TEXTS: (keyof Workflow & string)[] = ["_id", "name"];

export const Workflows = collection<Workflow>(
  "workflows",
  new Schema<Workflow>(
    {
      _id: { type: String, required: true },
      owner_id: { type: String, required: true },
      name: { type: String, required: true },
      created_at: { type: Number, required: true },
      updated_at: { type: Number },
      ...REVISED,
    },
    schemaOptions,
  ).index({ owner_id: 1, _id: -1 }),
);
