import { type Static, Type } from "typebox";
import { defineQueue } from "./define-queue.ts";

/** A custom channel, or one of the two that the platform itself fills; no other name begins with `$`. */
export const ChannelName = Type.String({ maxLength: 128, pattern: "^(|\\$errors|\\$logs|[^$\\u0000].*)$" });

/** Public: any workflow engine that holds the Redis credentials may enqueue these (docs/jobs.md). */
export const EmissionsJob = Type.Object({
  emitter_id: Type.String({ pattern: "^(dc|p)_[A-Za-z0-9]{16}$" }),
  /** The emission's identity: the same one again stores and delivers nothing twice. */
  emit_id: Type.String({ minLength: 1, maxLength: 256 }),
  /** Channel; empty or absent is the default one. */
  name: Type.Optional(ChannelName),
  event: Type.Unknown(),
  /** A line for people, kept with the summary. */
  summary: Type.Optional(Type.String({ maxLength: 1024 })),
  /** Place in the emitter's order, reserved by the platform's own producers. */
  score: Type.Optional(Type.Integer({ minimum: 1 })),
  /** How many listeners this event's cause has passed; ends loops of sources that listen to each other. */
  hops: Type.Optional(Type.Integer({ minimum: 0 })),
});
export type EmissionsJob = Static<typeof EmissionsJob>;

export const emissions = defineQueue({
  name: "emissions",
  schema: EmissionsJob,
  options: {
    // With back-off capped by the schedule's own doubling this lasts some 17 minutes of a store being away.
    attempts: 12,
    backoff: { type: "exponential", delay: 500, jitter: 0.5 },
    removeOnComplete: { age: 600, count: 200 },
    // A kept failure holds the event, so that an operator may retry it from the board.
    removeOnFail: { age: 30 * 86_400, count: 10_000 },
  },
});
