import { createIndexes } from "../indexes.ts";
import type { Migration } from "../migration.ts";

/** Which functions auto subscriptions have. */
export const functionsOfAutoSubscriptions: Migration = {
  number: 12,
  name: "functions of auto subscriptions",
  kind: "expand",
  run: context =>
    createIndexes(context, {
      auto_subscriptions: [
        {
          key: { function_hash: 1 },
          name: "function_hash_1",
          partialFilterExpression: { function_hash: { $type: "string" } },
        },
      ],
    }),
};
