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

/** Returns a source's props: the component's own, with those that `additionalProps` made. */
export function propsOfSource(
  platform: Pick<Platform, "secrets">,
  { description }: Pick<Component, "description">,
  source: Pick<Source, "dynamic_props">,
): DescribedProp[] {
  const dynamic = dynamicPropsOf(platform, source);
  return dynamic ? withAddedProps(description.props, dynamic.props) : description.props;
}
