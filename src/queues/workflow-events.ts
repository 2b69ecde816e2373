import { type Static, Type } from "typebox";
import { defineQueue, FAILED_JOBS_KEPT } from "./define-queue.ts";

/** Public: what a workflow engine takes from this queue (docs/jobs.md; examples/workflow-engine holds a small engine). */
export const WorkflowEventsJob = Type.Object({
  workflow_id: Type.String(),
  subscription_id: Type.String(),
  event_id: Type.String(),
  emit_id: Type.String(),
  emitter_id: Type.String(),
  name: Type.String(),
  event: Type.Unknown(),
  hops: Type.Integer({ minimum: 0 }),
  /** Its place in a trace; absent without tracing. */
  trace: Type.Optional(Type.String()),
});
export type WorkflowEventsJob = Static<typeof WorkflowEventsJob>;

export const workflowEvents = defineQueue({
  name: "workflow-events",
  options: {
    attempts: 12,
    backoff: { type: "exponential", delay: 500, jitter: 0.5 },
    removeOnComplete: { age: 3600, count: 1000 },
    removeOnFail: FAILED_JOBS_KEPT,
  },
  jobs: {
    "workflow-events": {
      schema: WorkflowEventsJob,
      jobId: ({ emitter_id, event_id, subscription_id }) => `${emitter_id}-${event_id}-${subscription_id}`,
    },
  },
});
