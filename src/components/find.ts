import { MAX_NAMED, meantBy } from "../accounts/meant-by.ts";
import { type Component, Components } from "../models/component.ts";
import type { Platform } from "../platform.ts";

type Deps = Pick<Platform, "mongo">;

/**
 * Returns a component that a request reads by its id or key; otherwise null. A key names the latest component of the
 * first of these accounts, which is that of the request, else the published one; an id those of all of them, and
 * published ones. Throws `conflict` if several accounts have published the key.
 */
export const findComponent = (
  platform: Deps,
  idOrKey: string,
  accounts: readonly string[],
): Promise<Component | null> => find(platform, idOrKey, accounts, true);

/**
 * Like `findComponent`, for a request that runs the component's code, with secrets perhaps: throws `conflict` also if the
 * account has a component with the key and another account has published one.
 */
export const findComponentToRun = (
  platform: Deps,
  idOrKey: string,
  accounts: readonly string[],
): Promise<Component | null> => find(platform, idOrKey, accounts, false);

async function find(platform: Deps, idOrKey: string, accounts: readonly string[], reads: boolean) {
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
export const findPublished = async (platform: Deps, key: string): Promise<Component | null> =>
  meantBy(`the key ${key}`, await publishedOnes(platform, key), { account: undefined, reads: true });

/** Returns the components that are published under a key: of each account that which it published last. */
async function publishedOnes({ mongo }: Deps, key: string): Promise<Component[]> {
  const owners = await Components(mongo).distinct("owner_id", { key, published: true });
  const found = await Promise.all(
    owners
      .slice(0, MAX_NAMED)
      .map(owner_id =>
        Components(mongo).findOne({ key, published: true, owner_id }).sort({ updated_at: -1 }).lean(),
      ),
  );
  return found.filter(component => component !== null);
}

function findLatest(platform: Deps, key: string, owner_id: string): Promise<Component | null> {
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
export function findOwnComponent(platform: Deps, id: string, owners: string[]): Promise<Component | null> {
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
