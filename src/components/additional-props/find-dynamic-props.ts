import { type AppError, invalidField } from "../../lib/errors.ts";
import type { Component } from "../../models/component.ts";
import { DynamicPropsRows } from "../../models/dynamic-props.ts";
import type { Platform } from "../../platform.ts";
import type { StoredProps } from "../../props/configure.ts";
import { changedInput, type DynamicProps, withAddedProps } from "../../props/dynamic-props.ts";
import { configureFor } from "../configure-for.ts";
import { inTrial } from "../trial/build.ts";
import { callAdditionalProps, makingCode } from "./call-additional-props.ts";
import { makeProps } from "./make-props.ts";
import type { NextPropsDeps } from "./next-props.ts";

export type FindDeps = Pick<Platform, "mongo" | "secrets" | "clock">;

/** The error of a `dynamic_props_id` that can't be used. */
const invalidDynamicProps = (message: string): AppError => invalidField("body", "dynamic_props_id", message);

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

/** What a request configures, and what the source or action has so far. */
interface Choice {
  /** `dynamic_props_id` of the request. */
  id: string | undefined;
  configured: Record<string, unknown>;
  /** Values that are kept; undefined for a new one. */
  stored: StoredProps | undefined;
  /** The props that were made for it, if it keeps its component. */
  current: DynamicProps | null;
}

/**
 * Returns the dynamic props of a source or an action that is deployed or updated: those of the request's `dynamic_props_id`,
 * else its own while they hold, else what the component's `additionalProps` makes of the configured props; null if it has
 * none. Throws `invalid` that names the field, and as `makeProps` does.
 */
export async function chooseDynamicProps(
  platform: NextPropsDeps,
  ownerId: string,
  component: Component,
  { id, configured, stored, current }: Choice,
): Promise<DynamicProps | null> {
  if (!component.description.hasAdditionalProps) {
    if (id === undefined) return null;
    throw invalidDynamicProps("the component has no additionalProps");
  }
  const changed = (dynamic: DynamicProps): string | null => {
    const props = withAddedProps(component.description.props, dynamic.props);
    const values = configureFor(component.description)(props, configured, stored, {
      mayLack: true,
      mayHaveOthers: true,
    });
    return changedInput(component.description.props, dynamic, values);
  };
  if (id !== undefined) {
    const chosen = id === current?.id ? current : await findDynamicProps(platform, ownerId, component, id);
    const name = changed(chosen);
    if (name === null) return chosen;
    throw invalidDynamicProps(`was made for another value of ${name}; ask for the props again`);
  }
  if (current && changed(current) === null) return current;
  const code = makingCode(platform, component);
  return await inTrial(ownerId, () =>
    makeProps(code.description, { configured, stored }, soFar =>
      callAdditionalProps(platform, ownerId, code, soFar),
    ),
  );
}
