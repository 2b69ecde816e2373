import { AppError } from "../lib/errors.ts";
import { unixSeconds } from "../lib/unix-seconds.ts";
import { type Component, Components } from "../models/component.ts";
import type { Platform } from "../platform.ts";

/**
 * Lets every account use a component; only operators can do this. Throws `not-found`, or `invalid` if it has no key.
 */
export async function publishComponent(
  platform: Pick<Platform, "mongo" | "clock">,
  id: string,
): Promise<Component> {
  const component = await Components(platform.mongo).findById(id).lean();
  if (!component) throw new AppError("not-found", "component not found");
  if (component.key === null) {
    throw new AppError("invalid", "a component needs a key to be published", {
      fields: [{ in: "component", path: "key", message: "is required" }],
    });
  }
  const changes = { published: true, updated_at: unixSeconds(platform.clock()) };
  await Components(platform.mongo).updateOne({ _id: id }, { $set: changes });
  return { ...component, ...changes };
}
