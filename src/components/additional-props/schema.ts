import { type Static, Type } from "typebox";
import { OptionsRequestSchema, OptionsSchema } from "../configure/schema.ts";
import { presentProps } from "../present.ts";
import { ConfigurableProp } from "../schema.ts";
import type { NextProps } from "./next-props.ts";

/** What asks for the props that the values so far lead to (docs/rest-api.md#components). */
export const NextPropsRequestSchema = Type.Object({
  configured_props: OptionsRequestSchema.properties.configured_props,
  dynamic_props_id: OptionsRequestSchema.properties.dynamic_props_id,
});

export const NextPropsSchema = Type.Object(
  {
    dynamic_props_id: Type.Union([Type.String(), Type.Null()], {
      description:
        "What to deploy the source with. It expires after a day if none is. Null if the code failed, or makes none.",
    }),
    dynamic_props: Type.Array(ConfigurableProp, {
      description: "The props that the code added to the component's own, or changed.",
    }),
    logs: OptionsSchema.properties.logs,
    error: OptionsSchema.properties.error,
  },
  { title: "NextProps" },
);

/** Returns the props as the API shows them. */
export const presentNextProps = ({ dynamic, logs, error }: NextProps): Static<typeof NextPropsSchema> => ({
  dynamic_props_id: dynamic?.id ?? null,
  dynamic_props: presentProps({ props: dynamic?.props ?? [] }),
  logs,
  error,
});
