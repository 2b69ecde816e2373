import type { Workflow } from "../models/workflow.ts";
import type { WorkflowView } from "./schema.ts";

/** Returns a workflow as API responses show it (docs/rest-api.md#workflows). */
export const presentWorkflow = ({
  _id,
  name,
  created_at,
  updated_at = created_at,
}: Workflow): WorkflowView => ({ id: _id, name, created_at, updated_at });
