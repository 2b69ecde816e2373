import { createIndexes } from "../indexes.ts";
import type { Migration } from "../migration.ts";

/** Sources with a timer by their last change, which the reconciler looks at first. */
export const timersChanged: Migration = {
  number: 3,
  name: "sources with a timer by their last change",
  kind: "expand",
  run: context =>
    createIndexes(context, {
      sources: [
        {
          key: { updated_at: -1 },
          name: "timers_changed",
          partialFilterExpression: { timer: { $type: "object" } },
        },
      ],
    }),
};
