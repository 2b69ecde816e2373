import type { Component } from "../models/component.ts";
import type { Source } from "../models/source.ts";
import type { Platform } from "../platform.ts";
import { type DynamicProps, withAddedProps } from "../props/dynamic-props.ts";
import type { DescribedProp } from "../sandbox/protocol.ts";

/** Returns the props that `additionalProps` made for a source; null if its component's own are all. */
export const dynamicPropsOf = (
  { secrets }: Pick<Platform, "secrets">,
  { dynamic_props }: Pick<Source, "dynamic_props">,
): DynamicProps | null => (dynamic_props ? JSON.parse(secrets.open(dynamic_props)) : null);

/** What a source has props for. */
export interface PropsOfSource {
  /** The component's own, with those that `additionalProps` made. */
  props: DescribedProp[];
  dynamic: DynamicProps | null;
}

/** Returns a source's props; those of a component that is absent are none. */
export function propsOfSource(
  platform: Pick<Platform, "secrets">,
  component: Pick<Component, "description"> | null | undefined,
  source: Pick<Source, "dynamic_props">,
): PropsOfSource {
  const dynamic = dynamicPropsOf(platform, source);
  if (!component) return { props: [], dynamic };
  const own = component.description.props;
  return { props: dynamic ? withAddedProps(own, dynamic.props) : own, dynamic };
}
