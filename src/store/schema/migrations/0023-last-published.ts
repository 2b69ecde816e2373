import { createIndexes } from "../indexes.ts";
import type { Migration } from "../migration.ts";

/**
 * The components of a key by when they were published, whose times are seconds: the later of two of the same second has the greater id.
 * The index of migration 1 without the id goes a release later.
 */
export const lastPublished: Migration = {
  number: 23,
  name: "which component of a key was published last",
  kind: "expand",
  run: context =>
    createIndexes(context, {
      components: [
        {
          key: { key: 1, published: 1, updated_at: -1, _id: -1 },
          name: "key_1_published_1_updated_at_-1__id_-1",
        },
      ],
    }),
};
