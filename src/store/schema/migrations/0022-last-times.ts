import { createIndexes } from "../indexes.ts";
import type { Migration } from "../migration.ts";

const orders = ["last_event_ms", "last_success_ms", "last_error_ms"].map(field => ({
  key: { owner_id: 1, [field]: -1, _id: -1 } as const,
  name: `owner_id_1_${field}_-1__id_-1`,
}));

/** The orders of an account's webhooks and sources by what last happened to them. */
export const lastTimes: Migration = {
  number: 22,
  name: "lists by last event, success and error",
  kind: "expand",
  run: context => createIndexes(context, { webhooks: orders, sources: orders }),
};
