import type { Static } from "typebox";
import { type NextProps, type NextPropsDeps, nextProps } from "../components/additional-props/next-props.ts";
import type { NextPropsRequestSchema } from "../components/additional-props/schema.ts";
import type { Source } from "../models/source.ts";
import { dynamicPropsOf } from "./dynamic-props.ts";
import { existingComponent } from "./prepare.ts";

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
