import { Schema } from "mongoose";
import { collection, schemaOptions } from "../store/connections/mongo.ts";
import type { PutOff } from "../store/sweeps/put-off.ts";
import { EVENT_KEPT_SECONDS } from "./event.ts";

/**
 * What was accepted and is not handled yet, for as long as only Redis has it besides; written with
 * `DURABLE_INGRESS=mongodb` only (docs/decisions/0036-loss-at-failover.md).
 */
export interface Accepted {
  /** The id of the run, or the name of the job of emissions. */
  _id: string;
  kind: "run" | "emissions";
  owner_id: string;
  /** Of a run. */
  source_id?: string;
  /** JSON of the item of the run queue, or of the job. */
  body: string;
  /** When it was enqueued last. Unix milliseconds. */
  at_ms: number;
  /** When the sweep looks whether Redis still has it. What is never looked at is deleted as long after as events are kept. */
  check_at: Date;
  put_off?: PutOff;
}

export const AcceptedWork = collection<Accepted>(
  "accepted",
  new Schema<Accepted>(
    {
      _id: { type: String, required: true },
      kind: { type: String, required: true },
      owner_id: { type: String, required: true },
      source_id: { type: String, default: undefined },
      body: { type: String, required: true },
      at_ms: { type: Number, required: true },
      check_at: { type: Date, required: true },
      put_off: { type: Schema.Types.Mixed, default: undefined },
    },
    schemaOptions,
  ).index({ check_at: 1 }, { expireAfterSeconds: EVENT_KEPT_SECONDS }),
);
