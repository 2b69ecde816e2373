import { type Static, Type } from "typebox";
import { presentProps } from "../../components/present.ts";
import { CODE_FIELDS, ConfigurableProp } from "../../components/schema.ts";
import { defineKind } from "../kind.ts";
import { configureAction } from "./configure.ts";
import type { ActionSettings } from "./settings.ts";

const closed = { additionalProperties: false };
const Name = (maxLength: number, description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength, description }));

const Given = Type.Object(
  {
    component_id: Name(64, "Id of one of your components of type `action`, or of a published one."),
    key: Name(256, "Key of such a component."),
    ...CODE_FIELDS,
    configured_props: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description:
          "Values by prop name; texts in them may have templates such as `{{event.user.name}}`. In a change, a prop that is left " +
          "out keeps its value, and null removes it.",
      }),
    ),
    dynamic_props_id: Name(
      64,
      "From `POST /components/{id}/props`. Without it, `additionalProps` is called.",
    ),
  },
  closed,
);

const Shown = Type.Object(
  {
    component_id: Type.String(),
    configured_props: Type.Record(Type.String(), Type.Unknown(), {
      description: "Values by prop name, templates as they are, without secrets.",
    }),
    dynamic_props_id: Type.Union([Type.String(), Type.Null()], {
      description:
        "Id of the props that its `additionalProps` made for it; null if the component's own are all.",
    }),
    dynamic_props: Type.Array(ConfigurableProp, {
      description: "The props that its `additionalProps` added to the component's own, or changed.",
    }),
    secrets_set: Type.Array(Type.String(), {
      description: "Names of the props that have a secret or credentials stored, which are never shown.",
    }),
  },
  { title: "ActionSettings" },
);

/** A component that each event runs (docs/actions.md). */
export const action = defineKind<typeof Given, ActionSettings>({
  prefix: "ac",
  given: Given,
  changes: Given,
  shown: Shown,
  secrets: [],
  keepsItself: true,
  show: ({ component_id, configured_props, hidden, dynamic }): Static<typeof Shown> => {
    const entries = Object.entries(configured_props);
    return {
      component_id,
      configured_props: Object.fromEntries(entries.filter(([name]) => !hidden.includes(name))),
      dynamic_props_id: dynamic?.id ?? null,
      dynamic_props: presentProps({ props: dynamic?.props ?? [] }),
      secrets_set: hidden.filter(name => Object.hasOwn(configured_props, name)),
    };
  },
  check: configureAction,
});
