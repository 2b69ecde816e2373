import { Schema } from "mongoose";
import { collection, schemaOptions } from "../store/connections/mongo.ts";

/** Who had a source run some code, and how a request named that code; null for what an earlier release did not keep. */
export interface CodeOrigin {
  user_id: string | null;
  /** The API key of the request; null for one of a session. */
  key_id: string | null;
  /** The field of the request that had the code, or named it. */
  from: string | null;
  comment: string | null;
  /** The number of the version that was restored. */
  restored_from: number | null;
}

/** Code that a source has, or had. It is that of a component, whose document has it, with its files and its bundle. */
export interface CodeVersion extends CodeOrigin {
  id: string;
  /** Counts from 1 for each source. */
  number: number;
  component_id: string;
  /** Unix seconds; null if an earlier release deployed it. */
  created_at: number | null;
}

/** The last versions of a source's code, the oldest first; absent for a source whose code only earlier releases have set. */
export interface CodeHistory {
  /** The id of the source. */
  _id: string;
  versions: CodeVersion[];
}

/** Apart from the sources, which each run reads. */
export const CodeHistories = collection<CodeHistory>(
  "code_histories",
  new Schema<CodeHistory>(
    {
      _id: { type: String, required: true },
      versions: { type: [Schema.Types.Mixed] as never, required: true },
    },
    schemaOptions,
  ),
);
