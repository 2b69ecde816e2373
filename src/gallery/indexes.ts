import { createHash } from "node:crypto";
import { builtIn } from "../components/builder/with-built.ts";
import { writeBuilt } from "../components/builder/write-built.ts";
import { publishedByOther } from "../components/components.ts";
import { checkUrl } from "../egress/check-url.ts";
import { AppError, notFound } from "../lib/errors.ts";
import { openOwnedFolder } from "../lib/folders.ts";
import { unixSeconds } from "../lib/time.ts";
import { LIMITS } from "../limits/catalogue.ts";
import { Components, galleryOwner } from "../models/component.ts";
import { type GalleryIndex, GalleryIndexes } from "../models/gallery-index.ts";
import type { Outbound, Stores } from "../platform.ts";
import type { ComponentDescription } from "../sandbox/protocol.ts";
import { type IndexedComponent, type IndexFile, parseIndex } from "./index-file.ts";
import { publishVersions, unpublishAll } from "./publish-gallery.ts";
import type { Change, GalleryApp } from "./schema.ts";

/** What the gallery shows of an index, without its code. */
export interface ListedIndex {
  title: string;
  apps: GalleryApp[];
  components: {
    app: string;
    key: string;
    hash: string;
    description: ComponentDescription;
    sample: unknown;
    packages: Record<string, string>;
    changelog: Change[];
  }[];
}

/** An index as an operator names it. */
export interface NamedIndex {
  name: string;
  url: string;
  /** SHA-256 (hex) that the file must have: what is at the address may change. */
  sha256: string;
}

const NAME = /^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$/;
const SHA256 = /^[0-9a-f]{64}$/;

/**
 * Publishes the components of somebody else's index for every account, or those of a later version of it (docs/gallery.md#components-of-others).
 * Nothing of it is executed, and nothing is fetched again. Returns how many it published. Throws `invalid` for a file that has another
 * hash or can't be used, and `conflict` for a key that is published already; then nothing is stored.
 */
export async function addIndex(
  platform: Stores & Outbound,
  { name, url, sha256 }: NamedIndex,
  timeoutMs = LIMITS.galleryIndexMs.value,
): Promise<{ name: string; title: string; components: number; published: number }> {
  if (!NAME.test(name))
    throw new AppError("invalid", "the name must be lower-case letters, digits and hyphens");
  if (!SHA256.test(sha256)) throw new AppError("invalid", "sha256 must be 64 hexadecimal digits");
  const bytes = await fetchIndex(platform, url, timeoutMs);
  const found = createHash("sha256").update(bytes).digest("hex");
  if (found !== sha256) {
    throw new AppError("invalid", `the index at ${url} has the sha256 ${found}: read it before you trust it`);
  }
  const index = parseIndex(bytes);
  await rejectOthersKeys(platform, name, index);
  await checkRoom(platform, name);
  const isNew = !(await GalleryIndexes(platform.mongo).exists({ _id: name }));
  const published = await publishIndex(platform, name, index);
  // Those that were deployed stayed when the index was removed before.
  if (isNew) await republish(platform, name, index);
  await store(platform, { name, url, sha256 }, index);
  return { name, title: index.title, components: index.components.length, published };
}

async function fetchIndex({ egress }: Outbound, url: string, timeoutMs: number): Promise<Buffer> {
  const address = checkUrl(url, { in: "body", path: "url" });
  const maxResponseBytes = LIMITS.galleryIndexBytes.value;
  const invalid = (message: string) => new AppError("invalid", `the index at ${url} ${message}`);
  const { status, body, truncated } = await egress
    .request(address, { method: "GET", timeoutMs, maxResponseBytes })
    .catch((error: Error) => {
      throw invalid(`can't be fetched: ${error.message}`);
    });
  if (status >= 300 && status < 400) throw invalid("is elsewhere by now: a redirect is not followed");
  if (status !== 200) throw invalid(`can't be read: status ${status}`);
  if (truncated) throw invalid(`has more than ${maxResponseBytes / 1024 ** 2} MB, or ended early`);
  return body;
}

async function rejectOthersKeys(platform: Stores, name: string, { components }: IndexFile): Promise<void> {
  for (const { key } of components) {
    const other = await publishedByOther(platform, key, galleryOwner(name));
    if (other)
      throw new AppError("conflict", `${key} is published already, as ${other._id} of ${other.owner_id}`);
  }
}

async function checkRoom({ mongo }: Stores, name: string): Promise<void> {
  const others = await GalleryIndexes(mongo).countDocuments({ _id: { $ne: name } });
  const most = LIMITS.galleryIndexes.value;
  if (others >= most) throw new AppError("limit-reached", `there are ${most} indexes: remove one first`);
}

const publishIndex = (platform: Stores, name: string, { components }: IndexFile): Promise<number> =>
  publishVersions(
    platform,
    galleryOwner(name),
    components.map(component => ({
      ...component,
      code: component.files[component.entry] ?? "",
      files: { files: component.files, entry: component.entry },
      withBuilt: use => withBundle(component, use),
    })),
  );

const republish = ({ mongo }: Stores, name: string, { components }: IndexFile) =>
  Components(mongo).updateMany(
    { owner_id: galleryOwner(name), code_hash: { $in: components.map(({ hash }) => hash) } },
    { $set: { published: true } },
  );

/** Calls `use` with the bundle of a component in files, as a build leaves it. */
async function withBundle<T>(
  { bundle, hash, packages, files }: IndexedComponent,
  use: (built: ReturnType<typeof builtIn>) => Promise<T>,
): Promise<T> {
  const folder = await openOwnedFolder("headwater-index-");
  try {
    const given = { code: bundle, source: "", hash, modules: Object.keys(files), packages };
    return await use(builtIn(folder.path, await writeBuilt(given, folder.path)));
  } finally {
    await folder.close();
  }
}

async function store(
  { mongo, clock }: Stores,
  { name, url, sha256 }: NamedIndex,
  index: IndexFile,
): Promise<void> {
  const now = unixSeconds(clock());
  const listed: ListedIndex = {
    title: index.title,
    apps: index.apps,
    components: index.components.map(({ app, key, hash, description, sample, packages, changelog }) => ({
      ...{ app, key, hash, description, sample, packages, changelog },
    })),
  };
  await GalleryIndexes(mongo).updateOne(
    { _id: name },
    {
      $set: { url, sha256, listed: JSON.stringify(listed), updated_at: now },
      $setOnInsert: { created_at: now },
    },
    { upsert: true },
  );
}

/** Returns the indexes that were taken, by name. */
export const readIndexes = ({ mongo }: Pick<Stores, "mongo">): Promise<GalleryIndex[]> =>
  GalleryIndexes(mongo).find().sort({ _id: 1 }).limit(LIMITS.galleryIndexes.value).lean<GalleryIndex[]>();

/** Returns what an operator sees of the indexes. */
export async function listIndexes(platform: Stores) {
  const indexes = await readIndexes(platform);
  return indexes.map(({ _id: name, url, sha256, listed, updated_at }) => {
    const { title, components } = JSON.parse(listed) as ListedIndex;
    return { name, title, url, sha256, components: components.map(({ key }) => key), updated_at };
  });
}

/**
 * Takes the components of an index back: those that nothing uses are deleted, others stay with what they are deployed as. Returns how many
 * there were. Throws `not-found`.
 */
export async function removeIndex(
  platform: Stores,
  name: string,
): Promise<{ name: string; components: number }> {
  const { deletedCount } = await GalleryIndexes(platform.mongo).deleteOne({ _id: name });
  if (deletedCount === 0) throw notFound("index of the gallery");
  return { name, components: await unpublishAll(platform, galleryOwner(name)) };
}
