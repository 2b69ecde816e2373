import { createIndexes } from "../indexes.ts";
import type { Migration } from "../migration.ts";

/** Who changed what of an account, for a while. */
export const auditLog: Migration = {
  number: 19,
  name: "audit log",
  kind: "expand",
  run: context =>
    createIndexes(context, {
      audit_entries: [
        { key: { owner_id: 1, _id: -1 }, name: "owner_id_1__id_-1" },
        { key: { owner_id: 1, action: 1, _id: -1 }, name: "owner_id_1_action_1__id_-1" },
        { key: { owner_id: 1, actor_ids: 1, _id: -1 }, name: "owner_id_1_actor_ids_1__id_-1" },
        { key: { owner_id: 1, "thing.id": 1, _id: -1 }, name: "owner_id_1_thing.id_1__id_-1" },
        { key: { expires_at: 1 }, name: "expires_at_1", expireAfterSeconds: 0 },
      ],
    }),
};
