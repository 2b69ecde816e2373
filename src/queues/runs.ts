import { type Static, Type } from "typebox";
import { defineQueue } from "./define-queue.ts";

/**
 * `wake`: runs wait in the source's line. `tick`: a timer's moment came (made by a job scheduler). The runs themselves
 * stand in the line, not here: runs of one source are serial over all workers (docs/decisions/0002).
 */
export const RunsJob = Type.Object({
  kind: Type.Union([Type.Literal("wake"), Type.Literal("tick")]),
  source_id: Type.String(),
});
export type RunsJob = Static<typeof RunsJob>;

export const runs = defineQueue({
  name: "runs",
  schema: RunsJob,
  options: {
    // The line keeps the work; a wake that failed is found by the sweep, so a handful of tries is enough.
    attempts: 5,
    backoff: { type: "exponential", delay: 1000, jitter: 0.5 },
    removeOnComplete: { age: 600, count: 200 },
    removeOnFail: { age: 7 * 86_400, count: 1000 },
  },
});
