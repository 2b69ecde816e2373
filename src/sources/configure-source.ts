import type { Static } from "typebox";
import { askOptions, type ConfigureDeps, type Options } from "../components/configure/ask-options.ts";
import {
  findDynamicProps,
  type NextProps,
  type NextPropsDeps,
  nextProps,
} from "../components/configure/dynamic-props.ts";
import {
  type NextPropsRequestSchema,
  type OptionsRequestSchema,
  optionsRequest,
} from "../components/configure/schema.ts";
import type { Source } from "../models/source.ts";
import { dynamicPropsOf } from "./dynamic-props.ts";
import { existingComponent } from "./prepare.ts";

/**
 * Lists the choices of a source's prop, with the values that are stored for it where the request leaves one out: a form
 * never has its credentials. Throws as `askOptions` does.
 */
export async function configureSource(
  platform: ConfigureDeps,
  source: Source,
  body: Static<typeof OptionsRequestSchema>,
): Promise<Options> {
  const component = await existingComponent(platform, source);
  const stored = JSON.parse(platform.secrets.open(source.configured_props));
  const id = body.dynamic_props_id;
  const current = dynamicPropsOf(platform, source);
  const dynamic =
    id === undefined || id === current?.id
      ? current
      : await findDynamicProps(platform, source.owner_id, component, id);
  const request = { ...optionsRequest(body), stored, added: dynamic?.props };
  return askOptions(platform, source.owner_id, component, request);
}

/**
 * Returns the props that a source's values lead to, with those that are stored for it where the request leaves one out.
 * Throws as `nextProps` does.
 */
export async function nextPropsOfSource(
  platform: NextPropsDeps,
  source: Source,
  body: Static<typeof NextPropsRequestSchema>,
): Promise<NextProps> {
  const values = JSON.parse(platform.secrets.open(source.configured_props));
  return nextProps(platform, source.owner_id, await existingComponent(platform, source), {
    configuredProps: body.configured_props,
    dynamicPropsId: body.dynamic_props_id,
    stored: { values, dynamic: dynamicPropsOf(platform, source) },
  });
}
