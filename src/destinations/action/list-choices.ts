import type { Static } from "typebox";
import { findDynamicProps } from "../../components/additional-props/find-dynamic-props.ts";
import { askOptions, type ConfigureDeps, type Options } from "../../components/configure/ask-options.ts";
import { type OptionsRequestSchema, optionsRequest } from "../../components/configure/schema.ts";
import type { Destination } from "../../models/webhook.ts";
import { openSettings } from "../settings.ts";
import { findComponent } from "./find-component.ts";
import type { ActionSettings } from "./settings.ts";

/**
 * Lists the choices of an action's prop, with the values that are stored for it where the request leaves one out: a form
 * never has its secrets. Throws as `askOptions` does.
 */
export async function listChoices(
  platform: ConfigureDeps,
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
