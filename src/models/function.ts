import { Schema } from "mongoose";
import { collection, schemaOptions } from "../store/mongo.ts";

/** The code of a function on subscriptions, stored once however many have it (docs/functions.md). */
export interface StoredFunction {
  /** SHA-256 of the code, hex. */
  _id: string;
  /** As it was given. */
  code: string;
  /** The module that the sandbox loads. */
  bundle: string;
  /** How often it was saved; counted so that a deletion at that moment finds it changed. */
  saves: number;
  /** Since when no subscription has it; absent while one does, or until the sweep has looked. */
  unused_since_ms?: number;
}

export const StoredFunctions = collection<StoredFunction>(
  "functions",
  new Schema<StoredFunction>(
    {
      _id: { type: String, required: true },
      code: { type: String, required: true },
      bundle: { type: String, required: true },
      saves: { type: Number, required: true },
      unused_since_ms: Number,
    },
    schemaOptions,
  ),
);
