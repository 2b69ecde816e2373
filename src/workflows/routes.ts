import { Type } from "typebox";
import { summaryRoute } from "../events/summary-route.ts";
import { data } from "../http/response.ts";
import { routeFor } from "../http/route.ts";
import type { Platform } from "../platform.ts";
import { readDrops } from "../store/drops.ts";
import { findWorkflow } from "./find.ts";

const route = routeFor<Pick<Platform, "mongo" | "redis" | "keys">>();

const WorkflowDetail = Type.Object(
  {
    id: Type.String({ description: "`p_…`" }),
    name: Type.String(),
    created_at: Type.Integer({ description: "Unix seconds" }),
    dropped: Type.Record(Type.String(), Type.Integer(), {
      description: "Events dropped on purpose, reason to count",
    }),
  },
  { title: "Workflow" },
);

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
  route({
    method: "GET",
    path: "/workflows/{workflow_id}",
    id: "getWorkflow",
    tag: "Workflows",
    summary: "Fetch a workflow",
    access: ownWorkflow,
    response: data(200, WorkflowDetail),
    example: {
      params,
      response: {
        id: params.workflow_id,
        name: "Flow",
        created_at: 1_700_000_000,
        dropped: { "no-listener": 3 },
      },
    },
    handler: async ({ deps, resource: { _id, name, created_at } }) => ({
      id: _id,
      name,
      created_at,
      dropped: await readDrops(deps, _id),
    }),
  }),
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
