import { createIndexes } from "../indexes.ts";
import type { Migration } from "../migration.ts";

/** What programs pull: the events that a destination of kind `pull` keeps. */
export const pulledEvents: Migration = {
  number: 24,
  name: "pulled events",
  kind: "expand",
  run: context =>
    createIndexes(context, {
      pulled_events: [
        { key: { created_at: 1 }, name: "created_at_1", expireAfterSeconds: 30 * 86_400 },
        { key: { listener_id: 1, position: 1 }, name: "listener_id_1_position_1", unique: true },
      ],
    }),
};
