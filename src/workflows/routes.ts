import { summaryRoute } from "../events/summary-route.ts";
import { findWorkflow } from "./service.ts";

const ownWorkflow = {
  kind: "resource",
  what: "workflow",
  param: "workflow_id",
  load: findWorkflow,
} as const;

const params = { workflow_id: "p_0CjB9aRx4NqS6wUc" };
const metadata = { emit_id: "order-1", name: "", emitter_id: params.workflow_id };
const summary = {
  id: "1700000000000-0",
  indexed_at_ms: 1_700_000_000_000,
  event: { raw_event: { hello: "world" } },
  metadata,
};

export const workflowRoutes = [
  summaryRoute({
    path: "/workflows/{workflow_id}/event_summaries",
    id: "listWorkflowEvents",
    tag: "Workflows",
    summary: "List the last events that a workflow emitted",
    access: ownWorkflow,
    example: { params, query: { expand: "event" }, response: summary },
    stream: "emits",
  }),
  summaryRoute({
    path: "/workflows/{workflow_id}/$errors/event_summaries",
    id: "listWorkflowErrors",
    tag: "Workflows",
    summary: "List the last errors of a workflow",
    access: ownWorkflow,
    example: {
      params,
      response: {
        ...summary,
        event: {
          original_event: { hello: "world" },
          original_context: { id: "run-1", ts: "2023-11-14T22:13:20.000Z", workflow_id: params.workflow_id },
          error: {
            code: "TypeError",
            cellId: "step_1",
            ts: "2023-11-14T22:13:20.000Z",
            stack: "TypeError: …",
          },
        },
        metadata: { ...metadata, name: "$errors" },
      },
    },
    stream: "errors",
  }),
];
