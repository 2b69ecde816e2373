import { createIndexes } from "../indexes.ts";
import type { Migration } from "../migration.ts";

/** Alerts of accounts, and what is to be mailed to whom. */
export const alerts: Migration = {
  number: 6,
  name: "alerts",
  kind: "expand",
  run: context =>
    createIndexes(context, {
      alerts: [
        { key: { expires_at: 1 }, name: "expires_at_1", expireAfterSeconds: 0 },
        { key: { owner_id: 1, at_ms: 1 }, name: "owner_id_1_at_ms_1" },
        {
          key: { pending_since: 1, _id: 1 },
          name: "pending",
          partialFilterExpression: { pending_since: { $exists: true } },
        },
      ],
      mailboxes: [{ key: { due_at: 1 }, name: "due_at_1", sparse: true }],
    }),
};
