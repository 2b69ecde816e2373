import { createIndexes } from "../indexes.ts";
import type { Migration } from "../migration.ts";

/** Functions on subscriptions, and what they made of events. */
export const functions: Migration = {
  number: 7,
  name: "functions",
  kind: "expand",
  run: context =>
    createIndexes(context, {
      functions: [],
      transformed_payloads: [
        { key: { emit_id: 1 }, name: "emit_id_1" },
        { key: { created_at: 1 }, name: "created_at_1", expireAfterSeconds: 2592000 },
      ],
      subscriptions: [
        {
          key: { function_hash: 1 },
          name: "function_hash_1",
          partialFilterExpression: { function_hash: { $type: "string" } },
        },
      ],
    }),
};
