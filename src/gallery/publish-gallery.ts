import { builtIn } from "../components/builder/with-built.ts";
import { deleteComponent, publishedByOther } from "../components/components.ts";
import { newComponent, storeComponent } from "../components/save.ts";
import { AppError } from "../lib/errors.ts";
import { unixSeconds } from "../lib/time.ts";
import { type Component, Components, GALLERY_OWNER } from "../models/component.ts";
import type { Stores } from "../platform.ts";
import { isDuplicateKey } from "../store/connections/mongo.ts";
import { folderOfBundle, type Shipped, type ShippedComponent } from "./shipped.ts";

/** Versions that a release replaced stay so long although nothing uses them: the release before may be started again. */
const KEPT_SECONDS = 30 * 86_400;

type Stored = Pick<Component, "_id" | "key" | "code_hash" | "published" | "created_at">;

/**
 * Publishes the components of a release that the database does not have yet, and deletes versions that were replaced long ago
 * and that nothing uses. Returns how many it published. It needs neither npm nor network nor sandbox, because the build made all of it,
 * and reads one index when nothing has changed. Several processes may do it at the same time. What an operator unpublished stays
 * unpublished, in later versions too; a key that somebody else has published is left to them.
 */
export async function publishGallery(
  platform: Stores,
  { components }: Pick<Shipped, "components">,
): Promise<number> {
  const stored = await storedVersions(platform);
  const known = new Set(stored.map(({ code_hash }) => code_hash));
  let published = 0;
  for (const component of components.filter(({ built }) => !known.has(built.hash))) {
    if (await publish(platform, component, stored)) published += 1;
  }
  const current = new Set(components.map(({ built }) => built.hash));
  const before = unixSeconds(platform.clock()) - KEPT_SECONDS;
  const replaced = stored.filter(row => !current.has(row.code_hash) && row.created_at < before);
  for (const { _id } of replaced) await deleteUnused(platform, _id);
  return published;
}

/** The newest first. */
const storedVersions = ({ mongo }: Stores): Promise<Stored[]> =>
  Components(mongo)
    .find({ owner_id: GALLERY_OWNER }, { key: 1, code_hash: 1, published: 1, created_at: 1 })
    .sort({ _id: -1 })
    .lean<Stored[]>();

async function publish(platform: Stores, shipped: ShippedComponent, stored: Stored[]): Promise<boolean> {
  const { key, code, files, description, built } = shipped;
  const other = await publishedByOther(platform, key, GALLERY_OWNER);
  if (other) {
    const { _id: id, owner_id } = other;
    platform.log.warn(
      { key, id, owner_id },
      "the key of a gallery component is published by another account",
    );
    return false;
  }
  const made = builtIn(folderOfBundle(shipped), built);
  const saver = { ownerId: GALLERY_OWNER, userId: GALLERY_OWNER };
  const component = newComponent(platform, saver, made, {
    ...{ code, url: null, description, traits: built.traits },
  });
  component.published = stored.find(row => row.key === key)?.published ?? true;
  try {
    await storeComponent(platform, component, made, files);
    return true;
  } catch (error) {
    // Another process was sooner.
    if (isDuplicateKey(error)) return false;
    throw error;
  }
}

async function deleteUnused(platform: Stores, id: string): Promise<void> {
  const component = await Components(platform.mongo).findById(id).lean();
  if (!component) return;
  await deleteComponent(platform, component).catch((error: unknown) => {
    if (!(error instanceof AppError && error.code === "conflict")) throw error;
  });
}
