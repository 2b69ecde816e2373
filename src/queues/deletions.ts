import { type Static, Type } from "typebox";
import { defineQueue } from "./define-queue.ts";

/** A range of stored events to delete, both ends inclusive; an absent end is open (docs/rest-api.md#source-events). */
export const DeletionsJob = Type.Object({
  emitter_id: Type.String(),
  start_id: Type.Optional(Type.String()),
  end_id: Type.Optional(Type.String()),
});
export type DeletionsJob = Static<typeof DeletionsJob>;

export const deletions = defineQueue({
  name: "deletions",
  concurrency: 4,
  options: {
    attempts: 12,
    backoff: { type: "exponential", delay: 500, jitter: 0.5 },
    removeOnComplete: { age: 86_400, count: 200 },
    removeOnFail: { age: 7 * 86_400, count: 1000 },
  },
  jobs: { deletions: { schema: DeletionsJob } },
});
