import { createIndexes } from "../indexes.ts";
import type { Migration } from "../migration.ts";

/** The actions that run a component, looked for when it is deleted. */
export const componentsOfActions: Migration = {
  number: 9,
  name: "components of actions",
  kind: "expand",
  run: context =>
    createIndexes(context, {
      webhooks: [
        {
          key: { component_id: 1 },
          name: "component",
          partialFilterExpression: { component_id: { $gt: "" } },
        },
      ],
    }),
};
