import { createIndexes } from "../indexes.ts";
import type { Migration } from "../migration.ts";

/** The filters of an account's lists: sources and webhooks by state, subscriptions by what they connect. */
export const filtersOfLists: Migration = {
  number: 16,
  name: "filters of lists",
  kind: "expand",
  run: context =>
    createIndexes(context, {
      sources: [
        { key: { owner_id: 1, state: 1, active: 1, _id: -1 }, name: "owner_id_1_state_1_active_1__id_-1" },
      ],
      webhooks: [
        { key: { owner_id: 1, active: 1, _id: -1 }, name: "owner_id_1_active_1__id_-1" },
        {
          key: { owner_id: 1, _id: -1 },
          name: "failing_of_account",
          partialFilterExpression: { active: true, failing_since_ms: { $gt: 0 } },
        },
      ],
      subscriptions: [
        { key: { owner_id: 1, emitter_id: 1, _id: -1 }, name: "owner_id_1_emitter_id_1__id_-1" },
        { key: { owner_id: 1, listener_id: 1, _id: -1 }, name: "owner_id_1_listener_id_1__id_-1" },
      ],
    }),
};
