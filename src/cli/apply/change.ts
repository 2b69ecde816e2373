import { isDeepStrictEqual } from "node:util";
import type { Ids } from "./ids.ts";
import { hasReference } from "./references.ts";

/** One field that a change sets. */
export interface FieldChange {
  field: string;
  /** What the server has; left out if it has nothing, or if it may be a secret. */
  from?: unknown;
  /** As the file has it, so that no value of the environment is shown; null removes it. */
  to: unknown;
}

/** One thing that is to be made, changed or deleted. */
export interface Change {
  action: "create" | "update" | "delete";
  kind: "connection" | "webhook" | "destination" | "action" | "source" | "workflow" | "subscription";
  /** As a person finds it: `shop/orders`, or `shop/orders → shop/inbox`. */
  name: string;
  fields: FieldChange[];
  /** Makes it so. Throws the client's errors. */
  apply: (ids: Ids) => Promise<void>;
}

/** What is compared of one field. */
export interface Comparison {
  field: string;
  /** What the server has; undefined for nothing. */
  current: unknown;
  /** With the values of the environment; undefined for nothing. */
  wanted: unknown;
  /** As the file has it. */
  raw: unknown;
}

/** Returns the fields that differ. */
export function fieldChanges(comparisons: Comparison[]): FieldChange[] {
  return comparisons
    .filter(({ current, wanted }) => !isDeepStrictEqual(current ?? null, wanted ?? null))
    .map(({ field, current, raw }) => {
      // An earlier value of the same variable is as secret as this one.
      const isShown = current !== undefined && current !== null && !hasReference(raw);
      return { field, ...(isShown && { from: current }), to: raw ?? null };
    });
}
