import { Schema } from "mongoose";
import { collection, schemaOptions } from "../store/mongo.ts";
import { EVENT_KEPT_SECONDS } from "./event.ts";

/** What a function made of an event for one delivery: each of its attempts sends the same bytes (docs/functions.md). */
export interface TransformedPayload {
  /** The delivery's id. */
  _id: string;
  /** The stored event's id, with which it is deleted. */
  emit_id: string;
  /** JSON. */
  body: string;
  created_at: Date;
}

export const TransformedPayloads = collection<TransformedPayload>(
  "transformed_payloads",
  new Schema<TransformedPayload>(
    {
      _id: { type: String, required: true },
      emit_id: { type: String, required: true, index: true },
      body: { type: String, required: true },
      created_at: { type: Date, required: true },
    },
    schemaOptions,
  ).index({ created_at: 1 }, { expireAfterSeconds: EVENT_KEPT_SECONDS }),
);
