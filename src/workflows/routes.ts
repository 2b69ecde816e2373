import { Type } from "typebox";
import { readSummaries } from "../events/read.ts";
import { EVENT_ID, EventSummarySchema, ExpandSchema } from "../events/schema.ts";
import { page } from "../http/answer.ts";
import { plainCursor } from "../http/pagination.ts";
import { routeFor } from "../http/route.ts";
import type { Platform } from "../platform.ts";
import { findWorkflow } from "./service.ts";

const route = routeFor<Pick<Platform, "mongo" | "eventLog">>();

const workflow = {
  kind: "resource",
  what: "workflow",
  param: "workflow_id",
  load: (deps: Pick<Platform, "mongo">, id: string, owners: string[]) => findWorkflow(deps, id, owners),
} as const;

const summaries = page(200, EventSummarySchema, { cursor: plainCursor(EVENT_ID), defaultLimit: 100 });
const query = Type.Object({ expand: ExpandSchema });
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
    path: "/workflows/{workflow_id}/event_summaries",
    id: "listWorkflowEvents",
    tag: "Workflows",
    summary: "Read the last events a workflow emitted",
    access: workflow,
    query,
    answer: summaries,
    example: { params, query: { expand: "event" }, answer: summary },
    handler: ({ deps, resource, page, query }) =>
      readSummaries(deps, resource._id, "emits", { ...page, expand: query.expand === "event" }),
  }),
  route({
    method: "GET",
    path: "/workflows/{workflow_id}/$errors/event_summaries",
    id: "listWorkflowErrors",
    tag: "Workflows",
    summary: "Read the last events on which a workflow threw an error",
    access: workflow,
    query,
    answer: summaries,
    example: {
      params,
      answer: {
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
    handler: ({ deps, resource, page, query }) =>
      readSummaries(deps, resource._id, "errors", { ...page, expand: query.expand === "event" }),
  }),
];
