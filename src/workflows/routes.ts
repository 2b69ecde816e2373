import { checkCount } from "../accounts/limits.ts";
import { findOwnEmitter, publishRoute } from "../events/publish/publish-route.ts";
import { summaryRoute } from "../events/summary-route.ts";
import { accountListsFor } from "../http/account-lists.ts";
import { data, empty, page, routeFor } from "../http/route.ts";
import type { Stores } from "../platform.ts";
import { readDrops } from "../store/events/drops.ts";
import { NewWorkflow, WorkflowChanges, WorkflowDetail, WorkflowFilter, WorkflowView } from "./schema.ts";
import {
  createWorkflow,
  deleteWorkflow,
  findWorkflow,
  listWorkflows,
  presentWorkflow,
  updateWorkflow,
} from "./workflows.ts";

const route = routeFor<Stores>();
const accountLists = accountListsFor<Stores>();
const tag = "Workflows";

const ownWorkflow = {
  kind: "resource",
  what: "workflow",
  param: "workflow_id",
  isRevised: true,
  load: findWorkflow,
} as const;

const example: WorkflowView = {
  id: "p_0CjB9aRx4NqS6wUc",
  name: "Flow",
  created_at: 1_700_000_000,
  updated_at: 1_700_000_000,
  revision: 1,
};
const params = { workflow_id: example.id };
const metadata = { emit_id: "order-1", name: "", emitter_id: params.workflow_id };
const summary = {
  id: "1700000000000-0",
  indexed_at_ms: 1_700_000_000_000,
  event: { raw_event: { hello: "world" } },
  metadata,
};

export const workflowRoutes = [
  route({
    method: "POST",
    path: "/workflows",
    id: "createWorkflow",
    audit: "workflow.created",
    tag,
    summary: "Register a workflow",
    description:
      "A workflow is an emitter and a listener with an id: a program of yours publishes its events, and an engine of " +
      "yours may receive those that it listens to.",
    access: { kind: "owner" },
    body: NewWorkflow,
    response: data(201, WorkflowView),
    errors: ["limit-reached"],
    links: { createSubscription: "emitter_id" },
    example: { body: { name: example.name }, response: example },
    handler: async ({ deps, owner, body: { name } }) => {
      await checkCount(deps, owner, "workflows");
      return await createWorkflow(deps, { ownerId: owner, name });
    },
  }),
  ...accountLists({
    things: "workflows",
    tag,
    description: "The newest first.",
    ofOwn: "Their events are emitted by your workflow engine, or published over this API.",
    query: WorkflowFilter,
    response: page(200, WorkflowView),
    example: example,
    read: ({ deps, owner, query, page }) => listWorkflows(deps, owner, query, page),
  }),
  route({
    method: "GET",
    path: "/workflows/{workflow_id}",
    id: "getWorkflow",
    tag,
    summary: "Fetch a workflow",
    description: "With the number of events that it dropped, by reason.",
    access: ownWorkflow,
    response: data(200, WorkflowDetail),
    example: {
      params,
      response: { ...example, dropped: { "no-listener": 3 } },
    },
    handler: async ({ deps, resource }) => ({
      ...presentWorkflow(resource),
      dropped: await readDrops(deps, resource._id),
    }),
  }),
  route({
    method: "PUT",
    path: "/workflows/{workflow_id}",
    id: "updateWorkflow",
    audit: "workflow.updated",
    tag,
    summary: "Update a workflow",
    description: "Fields that are left out stay unchanged.",
    access: ownWorkflow,
    body: WorkflowChanges,
    response: data(200, WorkflowView),
    example: { params, body: { name: example.name }, response: example },
    handler: ({ deps, resource, body }) => updateWorkflow(deps, resource, body),
  }),
  route({
    method: "DELETE",
    path: "/workflows/{workflow_id}",
    id: "deleteWorkflow",
    audit: "workflow.deleted",
    tag,
    summary: "Delete a workflow",
    description:
      "Also deletes its subscriptions and summaries. Deliveries of its events go on; events that are not handled yet are " +
      "dropped.",
    access: ownWorkflow,
    response: empty(204),
    errors: ["unavailable"],
    example: { params },
    handler: ({ deps, resource }) => deleteWorkflow(deps, resource),
  }),
  publishRoute({
    path: "/workflows/{workflow_id}/events",
    id: "publishWorkflowEvents",
    tag,
    summary: "Publish events as a workflow",
    access: { ...ownWorkflow, load: findOwnEmitter },
    example: { params, body: { event: { hello: "world" }, id: "order-17" } },
  }),
  summaryRoute({
    path: "/workflows/{workflow_id}/event_summaries",
    id: "listWorkflowEvents",
    tag,
    summary: "List the last events that a workflow emitted",
    description:
      "Up to the last 100, the newest last. An event over 1 KB is shortened unless `expand=event` is given.",
    access: ownWorkflow,
    example: { params, query: { expand: "event" }, response: summary },
    stream: "emits",
  }),
  summaryRoute({
    path: "/workflows/{workflow_id}/$errors/event_summaries",
    id: "listWorkflowErrors",
    tag,
    summary: "List the last errors of a workflow",
    description: "Up to the last 100, the newest last, each with its error and the original event.",
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
