import type { Static } from "typebox";
import { askOptions, type Options } from "../../components/configure/ask-options.ts";
import { findDynamicProps, type NextProps, nextProps } from "../../components/configure/dynamic-props.ts";
import {
  NextPropsRequestSchema,
  NextPropsSchema,
  OptionsRequestSchema,
  OptionsSchema,
  optionsRequest,
  presentNextProps,
} from "../../components/configure/schema.ts";
import { data, routeFor } from "../../http/route.ts";
import { type Destination, Webhooks } from "../../models/webhook.ts";
import type { Calling, Stores } from "../../platform.ts";
import { openSettings } from "../kind.ts";
import { type ActionSettings, findComponent } from "./settings.ts";

const route = routeFor<Calling>();
const tag = "Destinations";
const params = { id: "ac_0CjBAhD9sK2mV7tX" };

/** The access rule of routes whose path names an action. */
const ownAction = { kind: "resource", what: "action", load: findAction } as const;

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

/** Returns an action of one of these owners, otherwise null, for another kind of destination too (docs/design.md#guarantee-6). */
function findAction({ mongo }: Stores, id: string, owners: string[]): Promise<Destination | null> {
  return Webhooks(mongo)
    .findOne({ _id: id, owner_id: { $in: owners }, kind: "action" })
    .lean<Destination | null>();
}

/**
 * Lists the choices of an action's prop, with the values that are stored for it where the request leaves one out: a form
 * never has its secrets. Throws as `askOptions` does.
 */
async function listChoices(
  platform: Calling,
  destination: Destination,
  body: Static<typeof OptionsRequestSchema>,
): Promise<Options> {
  const settings = openSettings<ActionSettings>(platform.secrets, destination);
  const component = await findComponent(platform, settings.component_id);
  const { dynamic_props_id: id } = body;
  const owner = destination.owner_id;
  const dynamic =
    id === undefined || id === settings.dynamic?.id
      ? settings.dynamic
      : await findDynamicProps(platform, owner, component, id);
  const stored = settings.configured_props;
  return askOptions(platform, owner, component, { ...optionsRequest(body), stored, added: dynamic?.props });
}

/**
 * Returns the props that an action's values lead to, with those that are stored for it where the request leaves one out.
 * Throws as `nextProps` does.
 */
async function nextPropsOfAction(
  platform: Calling,
  destination: Destination,
  body: Static<typeof NextPropsRequestSchema>,
): Promise<NextProps> {
  const settings = openSettings<ActionSettings>(platform.secrets, destination);
  const component = await findComponent(platform, settings.component_id);
  return nextProps(platform, destination.owner_id, component, {
    configuredProps: body.configured_props,
    dynamicPropsId: body.dynamic_props_id,
    stored: { values: settings.configured_props, dynamic: settings.dynamic ?? null },
  });
}
