import { createIndexes } from "../indexes.ts";
import type { Migration } from "../migration.ts";

/** Failures grouped by cause, and the deliveries that each concerns. */
export const issues: Migration = {
  number: 17,
  name: "issues",
  kind: "expand",
  run: context =>
    createIndexes(context, {
      issues: [
        { key: { owner_id: 1, _id: -1 }, name: "owner_id_1__id_-1" },
        { key: { owner_id: 1, state: 1, _id: -1 }, name: "owner_id_1_state_1__id_-1" },
        { key: { owner_id: 1, state: 1, last_seen_ms: -1 }, name: "owner_id_1_state_1_last_seen_ms_-1" },
        { key: { listener_id: 1, _id: -1 }, name: "listener_id_1__id_-1" },
        { key: { state: 1, last_seen_ms: 1 }, name: "state_1_last_seen_ms_1" },
        { key: { expires_at: 1 }, name: "expires_at_1", expireAfterSeconds: 0 },
      ],
      deliveries: [
        {
          key: { issue_id: 1, state: 1, _id: -1 },
          name: "issue",
          partialFilterExpression: { issue_id: { $gt: "" } },
        },
      ],
    }),
};
