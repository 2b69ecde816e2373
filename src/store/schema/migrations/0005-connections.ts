import { createIndexes } from "../indexes.ts";
import type { Migration } from "../migration.ts";

/** Connections, the apps that they are of, and the sources that use one. */
export const connections: Migration = {
  number: 5,
  name: "connections",
  kind: "expand",
  run: context =>
    createIndexes(context, {
      apps: [],
      connections: [{ key: { owner_id: 1, _id: -1 }, name: "owner_id_1__id_-1" }],
      sources: [
        {
          key: { connection_ids: 1 },
          name: "connection_ids",
          partialFilterExpression: { connection_ids: { $gt: "" } },
        },
      ],
    }),
};
