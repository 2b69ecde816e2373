import { type Static, Type } from "typebox";
import { presentProps } from "../present.ts";
import { ConfigurableProp } from "../schema.ts";
import type { OptionsRequest } from "./ask-options.ts";
import type { NextProps } from "./dynamic-props.ts";

const Json = Type.Unknown();

/** What asks for the choices of a prop (docs/rest-api.md#components). */
export const OptionsRequestSchema = Type.Object({
  prop_name: Type.String({ minLength: 1, maxLength: 200 }),
  configured_props: Type.Optional(
    Type.Record(Type.String(), Json, { description: "The props so far; required ones may be absent." }),
  ),
  dynamic_props_id: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      description: "Id of the props that the component's `additionalProps` made, if the form has got some.",
    }),
  ),
  page: Type.Optional(Type.Integer({ minimum: 0, maximum: 100_000, description: "From 0." })),
  prev_context: Type.Optional(
    Type.Unknown({ description: "`context` of the response for the page before." }),
  ),
  query: Type.Optional(Type.String({ maxLength: 1000, description: "What a person has typed." })),
});

export const OptionsSchema = Type.Object(
  {
    options: Type.Array(Type.Object({ label: Type.String(), value: Json })),
    context: Json,
    logs: Type.Array(Type.Object({ level: Type.String(), message: Type.String(), ts: Type.Integer() })),
    error: Type.Union([
      Type.Object({ code: Type.String(), message: Type.String(), stack: Type.String() }),
      Type.Null(),
    ]),
  },
  { title: "PropOptions" },
);

/** Returns what a request's body asks for. */
export const optionsRequest = (body: Static<typeof OptionsRequestSchema>): OptionsRequest => ({
  prop: body.prop_name,
  configuredProps: body.configured_props,
  page: body.page ?? 0,
  prevContext: body.prev_context ?? null,
  query: body.query ?? "",
});

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
