import { configureActionProps } from "../props/action-props.ts";
import { configureProps } from "../props/configure.ts";
import type { ComponentDescription } from "../sandbox/protocol.ts";
import { isAction } from "./code-traits.ts";

/** Returns what checks the values of a component's props: those of an action may have templates. */
export const configureFor = (description: Pick<ComponentDescription, "type">): typeof configureProps =>
  isAction(description) ? configureActionProps : configureProps;
