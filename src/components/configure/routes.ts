import { data } from "../../http/response.ts";
import { routeFor } from "../../http/route.ts";
import { type FindDeps, findDynamicProps } from "../additional-props/find-dynamic-props.ts";
import { componentToRun } from "../find.ts";
import { askOptions, type ConfigureDeps } from "./ask-options.ts";
import { OptionsRequestSchema, OptionsSchema, optionsRequest } from "./schema.ts";

const route = routeFor<ConfigureDeps & FindDeps>();

/** What a form asks a component while a source is being configured. */
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
