import type { StoredProps } from "../../props/configure.ts";

/** What is stored of an action, encrypted. */
export interface ActionSettings {
  component_id: string;
  configured_props: StoredProps;
  /** Names of the props whose values are never shown. */
  hidden: string[];
}
