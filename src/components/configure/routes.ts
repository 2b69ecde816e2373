import { type AnyRoute, data, routeFor } from "../../http/route.ts";
import type { ErrorCode } from "../../lib/errors.ts";
import type { Component } from "../../models/component.ts";
import type { Calling, Stores } from "../../platform.ts";
import type { StoredProps } from "../../props/configure.ts";
import type { DynamicProps } from "../../props/dynamic-props.ts";
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
    audit: null,
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
    audit: null,
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

/** Something that is stored with values of its component's props. */
interface Configured {
  ownerId: string;
  component: Component;
  values: StoredProps;
  dynamic: DynamicProps | null;
}

interface ConfiguredThings<Thing> {
  path: `/${string}/{id}`;
  tag: string;
  /** With its article, for people. */
  noun: "a source" | "an action";
  /** What of its own values a form never has. */
  hidden: string;
  access: {
    kind: "resource";
    what: string;
    errors?: readonly ErrorCode[];
    load: (platform: Stores, id: string, owners: string[]) => Promise<Thing | null>;
  };
  exampleId: string;
  open: (platform: Stores, thing: Thing) => Promise<Configured>;
}

/** Returns the same routes for things that are stored, whose own values count where a request leaves one out. */
export function configuredRoutes<Thing>(things: ConfiguredThings<Thing>): AnyRoute<Calling>[] {
  const { path, tag, noun, hidden, access, exampleId, open } = things;
  const word = noun.split(" ")[1] ?? "";
  const name = word.charAt(0).toUpperCase() + word.slice(1);
  const own = `the ${word}'s own values count where \`configured_props\` leaves one out, its ${hidden} included.`;
  const params = { id: exampleId };
  return [
    route({
      method: "POST",
      path: `${path}/configure`,
      id: `configure${name}Prop`,
      audit: null,
      tag,
      summary: `List the choices of ${noun}'s prop`,
      description: `As \`POST /components/{id}/configure\`; ${own}`,
      access,
      body: OptionsRequestSchema,
      response: data(200, OptionsSchema),
      errors: ["unavailable"],
      example: {
        params,
        body: { prop_name: "city" },
        response: { options: [{ label: "Bern", value: "BE" }], context: null, logs: [], error: null },
      },
      handler: async ({ deps, resource, body }) => {
        const { ownerId, component, values, dynamic } = await open(deps, resource);
        const { dynamic_props_id: id } = body;
        const chosen =
          id === undefined || id === dynamic?.id
            ? dynamic
            : await findDynamicProps(deps, ownerId, component, id);
        const request = { ...optionsRequest(body), stored: values, added: chosen?.props };
        return askOptions(deps, ownerId, component, request);
      },
    }),
    route({
      method: "POST",
      path: `${path}/props`,
      id: `next${name}Props`,
      audit: null,
      tag,
      summary: `Get the props that ${noun}'s values lead to`,
      description: `As \`POST /components/{id}/props\`; ${own}`,
      access,
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
      handler: async ({ deps, resource, body }) => {
        const { ownerId, component, values, dynamic } = await open(deps, resource);
        const made = await nextProps(deps, ownerId, component, {
          configuredProps: body.configured_props,
          dynamicPropsId: body.dynamic_props_id,
          stored: { values, dynamic },
        });
        return presentNextProps(made);
      },
    }),
  ];
}
