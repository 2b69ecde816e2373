import { createIndexes } from "../indexes.ts";
import type { Migration } from "../migration.ts";

/** The lists of an account's sources to be, and of its actions to be. */
export const typesOfComponents: Migration = {
  number: 13,
  name: "types of components",
  kind: "expand",
  run: context =>
    createIndexes(context, {
      components: [
        {
          key: { owner_id: 1, "description.type": 1, _id: -1 },
          name: "owner_id_1_description.type_1__id_-1",
        },
      ],
    }),
};
