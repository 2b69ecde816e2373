import { type AppError, invalidField } from "../../lib/errors.ts";
import type { Component } from "../../models/component.ts";
import { DynamicPropsRows } from "../../models/dynamic-props.ts";
import type { Platform } from "../../platform.ts";
import type { DynamicProps } from "../../props/dynamic-props.ts";

export type FindDeps = Pick<Platform, "mongo" | "secrets" | "clock">;

/** The error of a `dynamic_props_id` that can't be used. */
export const invalidDynamicProps = (message: string): AppError =>
  invalidField("body", "dynamic_props_id", message);

/**
 * Returns the props that the account's form got under this id. Throws `invalid` that names `dynamic_props_id` if there are
 * none, or they are those of another component.
 */
export async function findDynamicProps(
  { mongo, secrets, clock }: FindDeps,
  ownerId: string,
  component: Component,
  id: string,
): Promise<DynamicProps> {
  const row = await DynamicPropsRows(mongo).findOne({ _id: id, owner_id: ownerId }).lean();
  // MongoDB deletes what has expired once a minute.
  if (!row || row.expires_at.getTime() <= clock()) {
    throw invalidDynamicProps("there are no such props, or they have expired; ask for the props again");
  }
  if (row.component_id !== component._id) {
    throw invalidDynamicProps("belongs to another component; ask for the props of this one");
  }
  return JSON.parse(secrets.open(row.sealed));
}
