import type { NextPropsDeps } from "../../components/additional-props/next-props.ts";
import {
  NextPropsRequestSchema,
  NextPropsSchema,
  presentNextProps,
} from "../../components/additional-props/schema.ts";
import type { ConfigureDeps } from "../../components/configure/ask-options.ts";
import { OptionsRequestSchema, OptionsSchema } from "../../components/configure/schema.ts";
import { data } from "../../http/response.ts";
import { routeFor } from "../../http/route.ts";
import { ownAction } from "./find.ts";
import { listChoices } from "./list-choices.ts";
import { nextPropsOfAction } from "./next-props-of-action.ts";

const route = routeFor<ConfigureDeps & NextPropsDeps>();
const tag = "Destinations";
const params = { id: "ac_0CjBAhD9sK2mV7tX" };

/** What the form of an action asks its component (docs/rest-api.md#destinations). */
export const actionRoutes = [
  route({
    method: "POST",
    path: "/destinations/{id}/configure",
    id: "configureActionProp",
    tag,
    summary: "List the choices of an action's prop",
    description:
      "As `POST /components/{id}/configure`; the action's own values count where `configured_props` leaves one out, its " +
      "secrets and credentials included.",
    access: ownAction,
    body: OptionsRequestSchema,
    response: data(200, OptionsSchema),
    errors: ["unavailable"],
    example: {
      params,
      body: { prop_name: "city" },
      response: { options: [{ label: "Bern", value: "BE" }], context: null, logs: [], error: null },
    },
    handler: ({ deps, resource, body }) => listChoices(deps, resource, body),
  }),
  route({
    method: "POST",
    path: "/destinations/{id}/props",
    id: "nextActionProps",
    tag,
    summary: "Get the props that an action's values lead to",
    description:
      "As `POST /components/{id}/props`; the action's own values count where `configured_props` leaves one out, its " +
      "secrets and credentials included.",
    access: ownAction,
    body: NextPropsRequestSchema,
    response: data(200, NextPropsSchema),
    errors: ["unavailable"],
    example: {
      params,
      body: { configured_props: { city: "Zug" } },
      response: {
        dynamic_props_id: "dyp_0CjBAd3KqV8mZ4tR",
        dynamic_props: [{ name: "street", type: "string" }],
        logs: [],
        error: null,
      },
    },
    handler: async ({ deps, resource, body }) =>
      presentNextProps(await nextPropsOfAction(deps, resource, body)),
  }),
];
