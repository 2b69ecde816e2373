import type { ComponentDescription } from "../sandbox/protocol.ts";

/** What a component is deployed as. */
export type ComponentType = "source" | "action";

/** True for a component that an event runs as a destination; all others are deployed as sources (docs/component-api.md#actions). */
export const isAction = ({ type }: Pick<ComponentDescription, "type">): boolean => type === "action";

/** Code that names no type is a source. */
export const typeOf = (description: Pick<ComponentDescription, "type">): ComponentType =>
  isAction(description) ? "action" : "source";
