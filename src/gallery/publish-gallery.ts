import { type Built, builtIn } from "../components/builder/with-built.ts";
import { deleteComponent, publishedByOther, unpublishComponent } from "../components/components.ts";
import type { GivenFiles } from "../components/read-files.ts";
import { newComponent, storeComponent } from "../components/save.ts";
import { AppError } from "../lib/errors.ts";
import { unixSeconds } from "../lib/time.ts";
import { type Component, Components, GALLERY_OWNER } from "../models/component.ts";
import type { Stores } from "../platform.ts";
import type { ComponentDescription } from "../sandbox/protocol.ts";
import { isDuplicateKey } from "../store/connections/mongo.ts";
import { folderOfBundle, type Shipped } from "./shipped.ts";

/** Versions that were replaced stay so long although nothing uses them: the release before may be started again. */
const KEPT_SECONDS = 30 * 86_400;

type Stored = Pick<Component, "_id" | "key" | "code_hash" | "published" | "created_at">;

/** A version of a component that is published as it was built elsewhere. */
export interface ReadyVersion {
  key: string;
  /** As `ComponentBundle`. */
  hash: string;
  code: string;
  files: GivenFiles | null;
  description: ComponentDescription;
  /** Calls `use` with the bundle, whose files exist until that has ended. */
  withBuilt: <T>(use: (built: Built) => Promise<T>) => Promise<T>;
}

/**
 * Publishes the components of a release that the database does not have yet, and deletes versions that were replaced long ago
 * and that nothing uses. Returns how many it published. It needs neither npm nor network nor sandbox, because the build made all of it,
 * and reads one index when nothing has changed. Several processes may do it at the same time. What an operator unpublished stays
 * unpublished, in later versions too; a key that somebody else has published is left to them.
 */
export const publishGallery = (
  platform: Stores,
  { components }: Pick<Shipped, "components">,
): Promise<number> =>
  publishVersions(
    platform,
    GALLERY_OWNER,
    components.map(component => ({
      ...component,
      hash: component.built.hash,
      withBuilt: use => use(builtIn(folderOfBundle(component), component.built)),
    })),
  );

/** As `publishGallery`, of the components of any owner that is not an account: these versions are all that it has now. */
export async function publishVersions(
  platform: Stores,
  owner: string,
  versions: readonly ReadyVersion[],
): Promise<number> {
  const stored = await storedVersions(platform, owner);
  const known = new Set(stored.map(({ code_hash }) => code_hash));
  let published = 0;
  for (const version of versions.filter(({ hash }) => !known.has(hash))) {
    if (await publish(platform, owner, version, stored)) published += 1;
  }
  const current = new Set(versions.map(({ hash }) => hash));
  const before = unixSeconds(platform.clock()) - KEPT_SECONDS;
  const replaced = stored.filter(row => !current.has(row.code_hash) && row.created_at < before);
  for (const { _id } of replaced) await deleteUnused(platform, _id);
  return published;
}

/** The newest first. */
const storedVersions = ({ mongo }: Stores, owner_id: string): Promise<Stored[]> =>
  Components(mongo)
    .find({ owner_id }, { key: 1, code_hash: 1, published: 1, created_at: 1 })
    .sort({ _id: -1 })
    .lean<Stored[]>();

async function publish(
  platform: Stores,
  owner: string,
  { key, code, files, description, withBuilt }: ReadyVersion,
  stored: Stored[],
): Promise<boolean> {
  const other = await publishedByOther(platform, key, owner);
  if (other) {
    const { _id: id, owner_id } = other;
    platform.log.warn(
      { key, id, owner_id },
      "the key of a gallery component is published by another account",
    );
    return false;
  }
  return await withBuilt(async built => {
    const saver = { ownerId: owner, userId: owner };
    const { traits } = built.bundle;
    const component = newComponent(platform, saver, built, { code, url: null, description, traits });
    component.published = stored.find(row => row.key === key)?.published ?? true;
    try {
      await storeComponent(platform, component, built, files);
      return true;
    } catch (error) {
      // Another process was sooner.
      if (isDuplicateKey(error)) return false;
      throw error;
    }
  });
}

/** Takes all components of an owner back, and deletes those that nothing uses. Returns how many there were. */
export async function unpublishAll(platform: Stores, owner: string): Promise<number> {
  const stored = await storedVersions(platform, owner);
  for (const { _id } of stored) {
    await unpublishComponent(platform, _id);
    await deleteUnused(platform, _id);
  }
  return stored.length;
}

async function deleteUnused(platform: Stores, id: string): Promise<void> {
  const component = await Components(platform.mongo).findById(id).lean();
  if (!component) return;
  await deleteComponent(platform, component).catch((error: unknown) => {
    if (!(error instanceof AppError && error.code === "conflict")) throw error;
  });
}
