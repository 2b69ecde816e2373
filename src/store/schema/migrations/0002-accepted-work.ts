import { createIndexes } from "../indexes.ts";
import type { Migration } from "../migration.ts";

/** What was accepted with `DURABLE_INGRESS=mongodb` and is not handled yet. */
export const acceptedWork: Migration = {
  number: 2,
  name: "accepted work",
  kind: "expand",
  run: context =>
    createIndexes(context, {
      accepted: [{ key: { check_at: 1 }, name: "check_at_1", expireAfterSeconds: 2_592_000 }],
    }),
};
