import { data, routeFor } from "../../http/route.ts";
import type { Calling } from "../../platform.ts";
import { componentToRun } from "../components.ts";
import { askOptions } from "./ask-options.ts";
import { findDynamicProps, nextProps } from "./dynamic-props.ts";
import {
  NextPropsRequestSchema,
  NextPropsSchema,
  OptionsRequestSchema,
  OptionsSchema,
  optionsRequest,
  presentNextProps,
} from "./schema.ts";

const route = routeFor<Calling>();

/** What a form asks a component while a source or an action is being configured. */
export const configureRoutes = [
  route({
    method: "POST",
    path: "/components/{id}/configure",
    id: "configureProp",
    tag: "Components",
    summary: "List the choices of a prop",
    description:
      "Calls the prop's `options` function with the props so far, in a sandbox, for at most 10 s. It counts as a run. " +
      "What the code threw is in `error`, and not a 400.",
    access: componentToRun,
    body: OptionsRequestSchema,
    response: data(200, OptionsSchema),
    errors: ["unavailable"],
    example: {
      params: { id: "sc_0CjB8zQw2MnP5vTa" },
      body: { prop_name: "city", configured_props: {}, page: 0 },
      response: { options: [{ label: "Bern", value: "Bern" }], context: null, logs: [], error: null },
    },
    handler: async ({ deps, resource, body, owner }) => {
      const { dynamic_props_id: id } = body;
      const added = id === undefined ? [] : (await findDynamicProps(deps, owner, resource, id)).props;
      return askOptions(deps, owner, resource, { ...optionsRequest(body), added });
    },
  }),
];

/** What a form asks a component when the value of a prop with `reload_props` has changed. */
export const additionalPropsRoutes = [
  route({
    method: "POST",
    path: "/components/{id}/props",
    id: "nextProps",
    tag: "Components",
    summary: "Get the props that the values so far lead to",
    description:
      "Calls the component's `additionalProps` with the props so far, in a sandbox, for at most 10 s. It counts as a run. " +
      "What the code threw is in `error`; props that can't be used are a 400.",
    access: componentToRun,
    body: NextPropsRequestSchema,
    response: data(200, NextPropsSchema),
    errors: ["unavailable"],
    example: {
      params: { id: "sc_0CjB8zQw2MnP5vTa" },
      body: { configured_props: { city: "Bern" } },
      response: {
        dynamic_props_id: "dyp_0CjBAd3KqV8mZ4tR",
        dynamic_props: [{ name: "street", type: "string" }],
        logs: [],
        error: null,
      },
    },
    handler: async ({ deps, resource, body, owner }) =>
      presentNextProps(
        await nextProps(deps, owner, resource, {
          configuredProps: body.configured_props,
          dynamicPropsId: body.dynamic_props_id,
        }),
      ),
  }),
];
