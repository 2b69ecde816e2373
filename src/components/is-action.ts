import type { ComponentDescription } from "../sandbox/protocol.ts";

/** True for a component that an event runs as a destination; all others are deployed as sources (docs/component-api.md#actions). */
export const isAction = ({ type }: Pick<ComponentDescription, "type">): boolean => type === "action";
