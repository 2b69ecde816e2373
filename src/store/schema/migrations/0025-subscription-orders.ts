import { createIndexes } from "../indexes.ts";
import type { Migration } from "../migration.ts";

/** The order of an account's subscriptions by when their function last failed; those by what they connect have been there since 16. */
export const subscriptionOrders: Migration = {
  number: 25,
  name: "subscriptions by the last error of their function",
  kind: "expand",
  run: context =>
    createIndexes(context, {
      subscriptions: [
        {
          key: { owner_id: 1, "last_function_error.at_ms": -1, _id: -1 },
          name: "owner_id_1_last_function_error.at_ms_-1__id_-1",
        },
      ],
    }),
};
