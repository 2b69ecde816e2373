import type { StoredProps } from "../../props/configure.ts";
import type { DynamicProps } from "../../props/dynamic-props.ts";

/** What is stored of an action, encrypted. */
export interface ActionSettings {
  component_id: string;
  configured_props: StoredProps;
  /** The props that its component's `additionalProps` made for it; null or absent if there are none. */
  dynamic?: DynamicProps | null;
  /** Names of the props whose values are never shown. */
  hidden: string[];
}
