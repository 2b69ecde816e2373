import type { Static } from "typebox";
import { askOptions, type ConfigureDeps, type Options } from "../components/configure/ask-options.ts";
import { type OptionsRequestSchema, optionsRequest } from "../components/configure/schema.ts";
import type { Source } from "../models/source.ts";
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
  return askOptions(platform, source.owner_id, component, { ...optionsRequest(body), stored });
}
