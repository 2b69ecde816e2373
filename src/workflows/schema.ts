import { type Static, Type } from "typebox";
import { patternInWords } from "../lib/schemas.ts";
import { Revision } from "../store/revisions.ts";
import { TextFilter } from "../store/text-filter.ts";

const MAX_NAME_CHARS = 128;

const Name = Type.String({
  minLength: 1,
  maxLength: MAX_NAME_CHARS,
  pattern: patternInWords("\\S", "must not be blank"),
});

const fields = {
  id: Type.String({ description: "`p_…`" }),
  name: Type.String(),
  created_at: Type.Integer({ description: "Unix seconds" }),
  updated_at: Type.Integer({ description: "Unix seconds" }),
  revision: Revision,
};

/** A workflow as lists show it (docs/rest-api.md#workflows). */
export const WorkflowView = Type.Object(fields, { title: "Workflow" });
export type WorkflowView = Static<typeof WorkflowView>;

export const WorkflowDetail = Type.Object(
  {
    ...fields,
    dropped: Type.Record(Type.String(), Type.Integer(), {
      description: "Events dropped on purpose, reason to count",
    }),
  },
  { title: "WorkflowDetail" },
);

/** What selects workflows of a list. */
export const WorkflowFilter = Type.Object({ q: TextFilter("their name or id") });
export type WorkflowFilter = Static<typeof WorkflowFilter>;

export const NewWorkflow = Type.Object({ name: Name });
export const WorkflowChanges = Type.Object({ name: Type.Optional(Name) });
export type WorkflowChanges = Static<typeof WorkflowChanges>;
