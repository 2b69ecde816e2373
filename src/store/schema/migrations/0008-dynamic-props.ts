import { createIndexes } from "../indexes.ts";
import type { Migration } from "../migration.ts";

/** The props that components made for forms, until a source is deployed with them. */
export const dynamicProps: Migration = {
  number: 8,
  name: "dynamic props",
  kind: "expand",
  run: context =>
    createIndexes(context, {
      dynamic_props: [
        { key: { owner_id: 1, _id: -1 }, name: "owner_id_1__id_-1" },
        { key: { expires_at: 1 }, name: "expires_at_1", expireAfterSeconds: 0 },
      ],
    }),
};
