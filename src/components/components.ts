import type { ClientSession, QueryFilter } from "mongoose";
import { MAX_NAMED, meantBy } from "../accounts/access.ts";
import { markConnectionsUsed } from "../connections/check.ts";
import { AppError } from "../lib/errors.ts";
import { unixSeconds } from "../lib/time.ts";
import { type Component, Components } from "../models/component.ts";
import { Sources } from "../models/source.ts";
import { Webhooks } from "../models/webhook.ts";
import type { Stores } from "../platform.ts";
import { transaction } from "../store/connections/mongo.ts";
import { countCacheOf, type Page, type PageRequest, pageOf } from "../store/page.ts";
import { containing } from "../store/text-filter.ts";
import type { ComponentType } from "./code-traits.ts";
import type { ComponentFilter } from "./schema.ts";
import { releaseBundle } from "./store-bundle.ts";

/**
 * Returns a component that a request reads by its id or key; otherwise null. A key names the latest component of the
 * first of these accounts, which is that of the request, else the published one; an id those of all of them, and
 * published ones. Throws `conflict` if several accounts have published the key.
 */
export const findComponent = (
  platform: Stores,
  idOrKey: string,
  accounts: readonly string[],
): Promise<Component | null> => find(platform, idOrKey, accounts, true);

/**
 * Like `findComponent`, for a request that runs the component's code, with secrets perhaps: throws `conflict` also if the
 * account has a component with the key and another account has published one.
 */
export const findComponentToRun = (
  platform: Stores,
  idOrKey: string,
  accounts: readonly string[],
): Promise<Component | null> => find(platform, idOrKey, accounts, false);

async function find(platform: Stores, idOrKey: string, accounts: readonly string[], reads: boolean) {
  if (idOrKey.startsWith("sc_")) {
    return await Components(platform.mongo)
      .findOne({ _id: idOrKey, $or: [{ owner_id: { $in: accounts } }, { published: true }] })
      .lean();
  }
  const [account = ""] = accounts;
  const [own, published] = await Promise.all([
    findLatest(platform, idOrKey, account),
    publishedOnes(platform, idOrKey),
  ]);
  const ofOthers = published.filter(({ owner_id }) => owner_id !== account);
  return meantBy(`the key ${idOrKey}`, own ? [own, ...ofOthers] : ofOthers, { account, reads });
}

/** Returns the published component with a key, or null. Throws `conflict` if several accounts have published one. */
export const findPublished = async (platform: Stores, key: string): Promise<Component | null> =>
  meantBy(`the key ${key}`, await publishedOnes(platform, key), { account: undefined, reads: true });

/** Returns the components that are published under a key: of each account that which it published last. */
async function publishedOnes({ mongo }: Stores, key: string): Promise<Component[]> {
  const owners = await Components(mongo).distinct("owner_id", { key, published: true });
  const found = await Promise.all(
    owners.slice(0, MAX_NAMED).map(owner_id =>
      // The time is in seconds: of two that were published in the same one, the later has the greater id.
      Components(mongo).findOne({ key, published: true, owner_id }).sort({ updated_at: -1, _id: -1 }).lean(),
    ),
  );
  return found.filter(component => component !== null);
}

function findLatest(platform: Stores, key: string, owner_id: string): Promise<Component | null> {
  return (
    Components(platform.mongo)
      .findOne({ owner_id, key })
      .sort({ _id: -1 })
      // With few components MongoDB may choose another index, and sort in memory.
      .hint({ owner_id: 1, key: 1, _id: -1 })
      .lean()
  );
}

/**
 * Returns a component of these owners by its id, or null. A key would not do, because several components may have it.
 */
export function findOwnComponent(platform: Stores, id: string, owners: string[]): Promise<Component | null> {
  return Components(platform.mongo)
    .findOne({ _id: id, owner_id: { $in: owners } })
    .lean();
}

/** The access rule of routes that run the code of the component that their path names. */
export const componentToRun = {
  kind: "resource",
  what: "component",
  load: findComponentToRun,
  errors: ["conflict"],
} as const;

/** Returns a page of an account's components, newest first. */
export function listComponents(
  platform: Stores,
  owner: string,
  { type, q }: ComponentFilter,
  page: PageRequest,
): Promise<Page<Component>> {
  const components: QueryFilter<Component> = {
    owner_id: owner,
    ...(type && { "description.type": { $in: WRITTEN[type] } }),
    ...(q !== undefined && containing<Component>(q, ["_id", "name", "key", "component_url"])),
  };
  return pageOf(Components(platform.mongo), components, page, {
    countCache: countCacheOf(platform, owner, "components", { type, q }),
  });
}

/** What the code of each type says; null: nothing. */
const WRITTEN: Record<ComponentType, (string | null)[]> = { action: ["action"], source: ["source", null] };

/**
 * Deletes a component, and its bundle if no other component uses it. Throws `conflict` while a source or an action uses the
 * component, even one of another account: it may use a published component, or that of a member.
 */
export async function deleteComponent(platform: Stores, component: Component): Promise<void> {
  await transaction(platform.mongo, async session => {
    const used = await Sources(platform.mongo).exists({ component_id: component._id }).session(session);
    if (used) throw new AppError("conflict", "a source uses this component");
    const runs = await Webhooks(platform.mongo).exists({ component_id: component._id }).session(session);
    if (runs) throw new AppError("conflict", "an action uses this component");
    await Components(platform.mongo).deleteOne({ _id: component._id }, { session });
    await releaseBundle(platform.mongo, session, component.bundle_hash);
  });
}

/**
 * Lets every account use a component; only operators can do this. Throws `not-found`, `invalid` if it has no key, and
 * `conflict` if another account's component is published under the key: what a key means to everybody is never taken over.
 * Of two that are published at the same moment both may pass; their key is a `conflict` wherever it is used then.
 */
export async function publishComponent(platform: Stores, id: string): Promise<Component> {
  const component = await findById(platform, id);
  const { key, owner_id } = component;
  if (key === null) {
    throw new AppError("invalid", "a component needs a key to be published", {
      fields: [{ in: "component", path: "key", message: "is required" }],
    });
  }
  const other = await publishedByOther(platform, key, owner_id);
  if (other) {
    const message = `${key} is published as ${other._id} of ${other.owner_id}, and ${id} belongs to ${owner_id}`;
    throw new AppError("conflict", `${message}: unpublish the first, or use another key`);
  }
  return setPublished(platform, component, true);
}

/** Returns a component that another account has published under the key, or null. */
export const publishedByOther = (
  { mongo }: Pick<Stores, "mongo">,
  key: string,
  ownerId: string,
): Promise<Pick<Component, "_id" | "owner_id"> | null> =>
  Components(mongo)
    .findOne({ key, published: true, owner_id: { $ne: ownerId } }, { owner_id: 1 })
    .lean();

/** Takes a published component back to its owner; what is deployed with it goes on. Throws `not-found`. */
export const unpublishComponent = async (platform: Stores, id: string): Promise<Component> =>
  setPublished(platform, await findById(platform, id), false);

async function findById({ mongo }: Stores, id: string): Promise<Component> {
  const component = await Components(mongo).findById(id).lean();
  if (!component) throw new AppError("not-found", "component not found");
  return component;
}

async function setPublished({ mongo, clock }: Stores, component: Component, published: boolean) {
  const changes = { published, updated_at: unixSeconds(clock()) };
  await Components(mongo).updateOne({ _id: component._id }, { $set: changes });
  return { ...component, ...changes };
}

/**
 * Marks a component as used, so that a deletion of it at the same moment conflicts with `session`. Throws `conflict`
 * if the component has been deleted.
 */
export async function markComponentUsed(
  platform: Stores,
  componentId: string,
  session: ClientSession,
): Promise<void> {
  const { matchedCount } = await Components(platform.mongo).updateOne(
    { _id: componentId },
    { $set: { used_at_ms: platform.clock() } },
    { session },
  );
  if (matchedCount === 0) throw new AppError("conflict", "the component was deleted by another request");
}

/** What a destination runs: a component with connections. */
export interface Uses {
  componentId: string;
  connectionIds: string[];
  /** Those of the connections that the present change names. */
  named: string[];
}

/**
 * Makes a change in one transaction with marking what it uses, if anything. Throws `conflict` if that has been deleted.
 */
export async function withUses<Result>(
  platform: Stores,
  uses: Uses | undefined,
  change: (options: { session?: ClientSession }) => Promise<Result>,
): Promise<Result> {
  if (!uses) return await change({});
  return await transaction(platform.mongo, async session => {
    await markComponentUsed(platform, uses.componentId, session);
    // Those it has already may have been deleted although they are used.
    await markConnectionsUsed(platform, uses.named, session);
    return await change({ session });
  });
}

/** Returns the fields of a document that name what it uses. */
export const fieldsOfUses = (uses: Uses | undefined) =>
  uses && { component_id: uses.componentId, connection_ids: uses.connectionIds };
