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

type SavePlatform = Pick<Platform, "mongo" | "clock" | "config" | "egress" | "sandboxes">;

/** In whose account a component is saved, and by whom. */
export interface Saver {
  ownerId: string;
  userId: string;
}

/**
 * Saves a component from its code or, without code, from its address: bundles it, asks it what it is, stores it. The
 * same code again answers the component there is (design.md, "REST decisions"). Throws `invalid` naming the field.
 */
export async function saveComponent(
  platform: SavePlatform,
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

/** Saves the component that a loader gives (code, address, or the operator's files). Throws `invalid`. */
export async function saveModules(
  platform: SavePlatform,
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

/** Both or neither; a deletion of another component with this bundle, at this moment, meets the write and looks again. */
async function store(platform: SavePlatform, component: Component, code: string): Promise<void> {
  await transaction(platform.mongo, async session => {
    await Bundles(platform.mongo).updateOne(
      { _id: component.bundle_hash },
      { $setOnInsert: { code }, $inc: { saves: 1 } },
      { upsert: true, session },
    );
    await Components(platform.mongo).insertMany([component], { session });
  });
}

function sameCode(platform: SavePlatform, ownerId: string, codeHash: string): Promise<Component | null> {
  return Components(platform.mongo).findOne({ owner_id: ownerId, code_hash: codeHash }).lean();
}

/** The published component of a key; the one published last when there are several. */
export function findPublished(platform: Pick<Platform, "mongo">, key: string): Promise<Component | null> {
  return Components(platform.mongo).findOne({ key, published: true }).sort({ updated_at: -1 }).lean();
}

/** A component by id, or the latest of these owners by its key; else the published one. Null when there is none. */
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

/** A component that one of these owners has, by id only: a key names several. Null otherwise. */
export function findOwnComponent(
  platform: Pick<Platform, "mongo">,
  id: string,
  owners: string[],
): Promise<Component | null> {
  return Components(platform.mongo)
    .findOne({ _id: id, owner_id: { $in: owners } })
    .lean();
}

/** Lets every account use a component; an operator's act. Throws `not-found`, `invalid` for one without a key. */
export async function publishComponent(
  platform: Pick<Platform, "mongo" | "clock">,
  id: string,
): Promise<Component> {
  const component = await Components(platform.mongo).findById(id).lean();
  if (!component) throw new AppError("not-found", "component not found");
  if (component.key === null) {
    throw new AppError("invalid", "a component needs a key to be published", {
      fields: [{ in: "component", path: "key", message: "is missing" }],
    });
  }
  const changes = { published: true, updated_at: Math.floor(platform.clock() / 1000) };
  await Components(platform.mongo).updateOne({ _id: id }, { $set: changes });
  return { ...component, ...changes };
}

/** A page of an account's components, newest first. */
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
 * Deletes a component; its bundle goes when no other component has it. Throws `conflict` while a source uses it, also
 * another account's source of a published one.
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
