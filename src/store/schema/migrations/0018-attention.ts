import { createIndexes } from "../indexes.ts";
import type { Migration } from "../migration.ts";

/** What fails, is disabled or waits for a retry, by its account. */
export const attention: Migration = {
  number: 18,
  name: "what needs attention, by account",
  kind: "expand",
  run: context =>
    createIndexes(context, {
      webhooks: [
        {
          key: { owner_id: 1, failing_since_ms: -1 },
          name: "failing_of_owner",
          partialFilterExpression: { active: true, failing_since_ms: { $gt: 0 } },
        },
        {
          key: { owner_id: 1, disabled_at_ms: -1 },
          name: "disabled_of_owner",
          partialFilterExpression: { disabled_reason: { $gt: "" } },
        },
      ],
      sources: [
        {
          key: { owner_id: 1, "failing.since_ms": -1 },
          name: "failing_of_owner",
          partialFilterExpression: { "failing.alerted": true },
        },
      ],
      connections: [{ key: { owner_id: 1, health: 1, _id: -1 }, name: "owner_id_1_health_1__id_-1" }],
      deliveries: [
        {
          key: { owner_id: 1, _id: 1, state: 1, issue_id: 1 },
          name: "retries_of_owner",
          partialFilterExpression: { state: "pending", issue_id: { $gt: "" } },
        },
      ],
    }),
};
