import { AppError } from "../lib/errors.ts";
import { unixSeconds } from "../lib/time.ts";
import { type Component, Components } from "../models/component.ts";
import type { Platform } from "../platform.ts";

type Deps = Pick<Platform, "mongo" | "clock">;

/**
 * Lets every account use a component; only operators can do this. Throws `not-found`, `invalid` if it has no key, and
 * `conflict` if another account's component is published under the key: what a key means to everybody is never taken over.
 * Of two that are published at the same moment both may pass; their key is a `conflict` wherever it is used then.
 */
export async function publishComponent(platform: Deps, id: string): Promise<Component> {
  const component = await find(platform, id);
  const { key, owner_id } = component;
  if (key === null) {
    throw new AppError("invalid", "a component needs a key to be published", {
      fields: [{ in: "component", path: "key", message: "is required" }],
    });
  }
  const other = await Components(platform.mongo)
    .findOne({ key, published: true, owner_id: { $ne: owner_id } }, { owner_id: 1 })
    .lean();
  if (other) {
    const message = `${key} is published as ${other._id} of ${other.owner_id}, and ${id} belongs to ${owner_id}`;
    throw new AppError("conflict", `${message}: unpublish the first, or use another key`);
  }
  return setPublished(platform, component, true);
}

/** Takes a published component back to its owner; what is deployed with it goes on. Throws `not-found`. */
export const unpublishComponent = async (platform: Deps, id: string): Promise<Component> =>
  setPublished(platform, await find(platform, id), false);

async function find({ mongo }: Deps, id: string): Promise<Component> {
  const component = await Components(mongo).findById(id).lean();
  if (!component) throw new AppError("not-found", "component not found");
  return component;
}

async function setPublished({ mongo, clock }: Deps, component: Component, published: boolean) {
  const changes = { published, updated_at: unixSeconds(clock()) };
  await Components(mongo).updateOne({ _id: component._id }, { $set: changes });
  return { ...component, ...changes };
}
