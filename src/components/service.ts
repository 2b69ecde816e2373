import { createHash } from "node:crypto";
import { AppError } from "../lib/errors.ts";
import { newId } from "../lib/ids.ts";
import { Bundles, type Component, Components } from "../models/component.ts";
import { Sources } from "../models/source.ts";
import type { Platform } from "../platform.ts";
import { isDuplicateKey, transaction } from "../store/mongo.ts";
import { pageOf } from "../store/page.ts";
import { bundleComponent } from "./bundle.ts";
import { describeComponent } from "./describe.ts";
import { fromUrl } from "./fetch-modules.ts";
import { fromCode, type ModuleLoader } from "./load-modules.ts";

type SaveDeps = Pick<Platform, "mongo" | "clock" | "config" | "egress" | "sandboxes">;

/** The account in which a component is saved, and the user who saves it. */
export interface Saver {
  ownerId: string;
  userId: string;
}

/**
 * Saves a component from its code or, without code, from its address: bundles it, describes it, stores it. If the
 * account has a component with the same code, it returns that component (docs/rest-api.md#components). Throws AppError
 * `invalid` that names the field, and `unavailable` if the npm registry or a sandbox is not available.
 */
export async function saveComponent(
  platform: SaveDeps,
  saver: Saver,
  { code, url }: { code?: string | undefined; url?: string | undefined },
): Promise<Component> {
  if (code !== undefined) return saveModules(platform, saver, fromCode(code), url ?? null);
  if (url !== undefined) return saveModules(platform, saver, fromUrl(url, platform.egress), url);
  throw new AppError("invalid", "one of component_code, component_url is required", {
    fields: ["component_code", "component_url"].map(path => ({
      in: "body" as const,
      path,
      message: "one of the two is required",
    })),
  });
}

/**
 * Saves the component that a loader returns: from code, an address, or the operator's files. Throws as `saveComponent`.
 */
export async function saveModules(
  platform: SaveDeps,
  { ownerId, userId }: Saver,
  loader: ModuleLoader,
  url: string | null,
): Promise<Component> {
  const entry = await loader.entry();
  const bundled = await bundleComponent(loader, platform.config);
  const earlier = await sameCode(platform, ownerId, bundled.hash);
  if (earlier) return earlier;
  const bundle = { code: bundled.code, hash: createHash("sha256").update(bundled.code).digest("hex") };
  const sandboxes = await platform.sandboxes();
  const { usesRespond, ...description } = await describeComponent(sandboxes, bundle, ownerId);
  const now = Math.floor(platform.clock() / 1000);
  const component: Component = {
    _id: newId("sc", platform.clock()),
    owner_id: ownerId,
    user_id: userId,
    code: entry.text,
    component_url: url,
    code_hash: bundled.hash,
    bundle_hash: bundle.hash,
    key: description.key ?? null,
    name: description.name,
    version: description.version,
    description,
    packages: bundled.packages,
    uses_respond: usesRespond,
    published: false,
    used_at_ms: null,
    created_at: now,
    updated_at: now,
  };
  try {
    await store(platform, component, bundle.code);
    return component;
  } catch (error) {
    const winner = isDuplicateKey(error) ? await sameCode(platform, ownerId, bundled.hash) : null;
    if (!winner) throw error;
    return winner;
  }
}

/**
 * Stores component and bundle, both or neither. If another component with the same bundle is being deleted, both
 * transactions write the bundle's document, so that one of them is repeated.
 */
async function store(platform: SaveDeps, component: Component, code: string): Promise<void> {
  await transaction(platform.mongo, async session => {
    await Bundles(platform.mongo).updateOne(
      { _id: component.bundle_hash },
      { $setOnInsert: { code }, $inc: { saves: 1 } },
      { upsert: true, session },
    );
    await Components(platform.mongo).insertMany([component], { session });
  });
}

function sameCode(platform: SaveDeps, ownerId: string, codeHash: string): Promise<Component | null> {
  return Components(platform.mongo).findOne({ owner_id: ownerId, code_hash: codeHash }).lean();
}

/** Returns the published component with a key, or null; if there are several, the one that was published last. */
export function findPublished(platform: Pick<Platform, "mongo">, key: string): Promise<Component | null> {
  return Components(platform.mongo).findOne({ key, published: true }).sort({ updated_at: -1 }).lean();
}

/**
 * Returns a component by its id, or the owners' latest component with the key, or the published one; otherwise null.
 */
export async function findComponent(
  platform: Pick<Platform, "mongo">,
  idOrKey: string,
  owners: string[],
): Promise<Component | null> {
  const components = Components(platform.mongo);
  if (idOrKey.startsWith("sc_")) {
    return components
      .findOne({ _id: idOrKey, $or: [{ owner_id: { $in: owners } }, { published: true }] })
      .lean();
  }
  const own = await components
    .findOne({ owner_id: { $in: owners }, key: idOrKey })
    .sort({ _id: -1 })
    .lean();
  return own ?? findPublished(platform, idOrKey);
}

/**
 * Returns a component of these owners by its id, or null. A key would not do, because several components may have it.
 */
export function findOwnComponent(
  platform: Pick<Platform, "mongo">,
  id: string,
  owners: string[],
): Promise<Component | null> {
  return Components(platform.mongo)
    .findOne({ _id: id, owner_id: { $in: owners } })
    .lean();
}

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
  const changes = { published: true, updated_at: Math.floor(platform.clock() / 1000) };
  await Components(platform.mongo).updateOne({ _id: id }, { $set: changes });
  return { ...component, ...changes };
}

/** Returns a page of an account's components, newest first. */
export function listComponents(
  platform: Pick<Platform, "mongo" | "redis" | "keys">,
  owner: string,
  page: Parameters<typeof pageOf>[2],
) {
  return pageOf(Components(platform.mongo), { owner_id: owner }, page, {
    countCache: { redis: platform.redis, key: platform.keys.listCount(owner, "components") },
  });
}

/**
 * Deletes a component, and its bundle if no other component uses it. Throws `conflict` while a source uses the
 * component, even a source of another account that uses it because it is published.
 */
export async function deleteComponent(
  platform: Pick<Platform, "mongo">,
  component: Component,
): Promise<void> {
  await transaction(platform.mongo, async session => {
    const used = await Sources(platform.mongo).exists({ component_id: component._id }).session(session);
    if (used) throw new AppError("conflict", "a source uses this component");
    await Components(platform.mongo).deleteOne({ _id: component._id }, { session });
    const shared = await Components(platform.mongo)
      .exists({ bundle_hash: component.bundle_hash })
      .session(session);
    if (!shared) await Bundles(platform.mongo).deleteOne({ _id: component.bundle_hash }, { session });
  });
}
