import { createIndexes } from "../indexes.ts";
import type { Migration } from "../migration.ts";

/** What the authorization server for agents' hosts keeps; nothing of an earlier release is in it. */
export const oauthRecords: Migration = {
  number: 26,
  name: "records of the authorization server for agents",
  kind: "expand",
  run: context =>
    createIndexes(context, {
      oauth_records: [
        {
          key: { key_id: 1 },
          name: "key_id_1",
          partialFilterExpression: { key_id: { $gt: "" } },
        },
        {
          key: { unused_since_ms: 1 },
          name: "unused_since_ms_1",
          partialFilterExpression: { unused_since_ms: { $gt: 0 } },
        },
        { key: { expires_at: 1 }, name: "expires_at_1", expireAfterSeconds: 0 },
      ],
    }),
};
