import type { Static } from "typebox";
import {
  type NextProps,
  type NextPropsDeps,
  nextProps,
} from "../../components/additional-props/next-props.ts";
import type { NextPropsRequestSchema } from "../../components/additional-props/schema.ts";
import type { Destination } from "../../models/webhook.ts";
import { openSettings } from "../settings.ts";
import { findComponent } from "./find-component.ts";
import type { ActionSettings } from "./settings.ts";

/**
 * Returns the props that an action's values lead to, with those that are stored for it where the request leaves one out.
 * Throws as `nextProps` does.
 */
export async function nextPropsOfAction(
  platform: NextPropsDeps,
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
