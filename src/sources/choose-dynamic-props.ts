import { findDynamicProps, invalidDynamicProps } from "../components/additional-props/find-dynamic-props.ts";
import { makeProps } from "../components/additional-props/make-props.ts";
import type { NextPropsDeps } from "../components/additional-props/next-props.ts";
import type { Component } from "../models/component.ts";
import { configureProps, type StoredProps } from "../props/configure.ts";
import { changedInput, type DynamicProps, withAddedProps } from "../props/dynamic-props.ts";

/** What a request configures, and what the source has so far. */
interface Choice {
  /** `dynamic_props_id` of the request. */
  id: string | undefined;
  configured: Record<string, unknown>;
  /** Values that are kept for the source; undefined for a new one. */
  stored: StoredProps | undefined;
  /** The props that were made for the source, if it keeps its component. */
  current: DynamicProps | null;
}

/**
 * Returns the dynamic props of a source that is deployed or updated: those of the request's `dynamic_props_id`, else the
 * source's own while they hold, else what the component's `additionalProps` makes of the configured props; null if it has
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
    const values = configureProps(props, configured, stored, { mayLack: true, mayHaveOthers: true });
    return changedInput(component.description.props, dynamic, values);
  };
  if (id !== undefined) {
    const chosen = id === current?.id ? current : await findDynamicProps(platform, ownerId, component, id);
    const name = changed(chosen);
    if (name === null) return chosen;
    throw invalidDynamicProps(`was made for another value of ${name}; ask for the props again`);
  }
  if (current && changed(current) === null) return current;
  return await makeProps(platform, ownerId, component, { configured, stored });
}
