import { AppError } from "../lib/errors.ts";
import { type Component, Components } from "../models/component.ts";
import { Sources } from "../models/source.ts";
import { Webhooks } from "../models/webhook.ts";
import type { Platform } from "../platform.ts";
import { transaction } from "../store/mongo.ts";
import { releaseBundle } from "./store-bundle.ts";

/**
 * Deletes a component, and its bundle if no other component uses it. Throws `conflict` while a source or an action uses the
 * component, even one of another account: it may use a published component, or that of a member.
 */
export async function deleteComponent(
  platform: Pick<Platform, "mongo">,
  component: Component,
): Promise<void> {
  await transaction(platform.mongo, async session => {
    const used = await Sources(platform.mongo).exists({ component_id: component._id }).session(session);
    if (used) throw new AppError("conflict", "a source uses this component");
    const runs = await Webhooks(platform.mongo).exists({ component_id: component._id }).session(session);
    if (runs) throw new AppError("conflict", "an action uses this component");
    await Components(platform.mongo).deleteOne({ _id: component._id }, { session });
    await releaseBundle(platform.mongo, session, component.bundle_hash);
  });
}
