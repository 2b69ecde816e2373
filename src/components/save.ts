import { checkCount } from "../accounts/limits.ts";
import { checkQuota } from "../accounts/quota.ts";
import { countRuns } from "../accounts/usage.ts";
import { checkUrlText } from "../egress/check-url.ts";
import { Slots } from "../fairness/slots.ts";
import { AppError, invalidField, notFound } from "../lib/errors.ts";
import { newId } from "../lib/ids.ts";
import { unixSeconds } from "../lib/time.ts";
import { LIMITS } from "../limits/catalogue.ts";
import { type Component, type ComponentRow, Components, isGalleryOwner } from "../models/component.ts";
import type { Calling, Stores } from "../platform.ts";
import type { ComponentDescription } from "../sandbox/protocol.ts";
import { isDuplicateKey, transaction } from "../store/connections/mongo.ts";
import { type Built, withBuilt } from "./builder/with-built.ts";
import { type CodeTraits, isAction } from "./code-traits.ts";
import { findComponentToRun } from "./components.ts";
import type { Deployer } from "./deployer.ts";
import { describeComponent } from "./describe.ts";
import { CODE_SOURCES, type GivenCode, loaderOf } from "./given-files.ts";
import type { ModuleLoader } from "./load-modules.ts";
import { hashOfFile } from "./module-graph.ts";
import type { GivenFiles } from "./read-files.ts";
import { formOfBundles, storeBundle } from "./store-bundle.ts";
import { addFiles, packFiles } from "./stored-bundle.ts";

/** The account in which a component is saved, and the user who saves it. */
export interface Saver {
  ownerId: string;
  userId: string;
}

/** Saves under way. None waits here: what is heavy about them waits for its own slots, so this bounds their memory. */
const saves = new Slots({
  total: LIMITS.saves.value,
  perAccount: LIMITS.savesPerAccount.value,
  waitingPerAccount: 0,
  waiting: 0,
  what: "components are being saved",
});

/** More at once make an account's saves hardly faster, and all other requests slower (docs/performance.md). */
const describes = new Slots({
  total: LIMITS.describes.value,
  perAccount: LIMITS.describesPerAccount.value,
  what: "components are being described",
});

/**
 * Saves a component from its code, else from its files, else from its address: bundles it, describes it, stores it. If the
 * account has a component with the same code, it returns that component (docs/rest-api.md#components). Throws AppError
 * `invalid` that names the field, `unavailable` if the npm registry or a sandbox is not available, and `rate-limited` or
 * `unavailable` while too many components are being saved (docs/limits.md).
 */
export async function saveComponent(platform: Calling, saver: Saver, given: GivenCode): Promise<Component> {
  return saveModules(platform, saver, loaderOf(platform, given), given.component_url ?? null);
}

/**
 * Saves the component that a loader returns: from code, an address, or the operator's files. Throws as `saveComponent`.
 */
export async function saveModules(
  platform: Calling,
  { ownerId, userId }: Saver,
  loader: ModuleLoader,
  url: string | null,
): Promise<Component> {
  return saves.run(ownerId, () => save(platform, { ownerId, userId }, loader, url));
}

async function save(
  platform: Calling,
  { ownerId, userId }: Saver,
  loader: ModuleLoader,
  url: string | null,
): Promise<Component> {
  const entry = await loader.entry();
  const isAlone = loader.declaredRange === undefined;
  const sameFile = isAlone ? await sameCode(platform, ownerId, hashOfFile(entry.text)) : null;
  if (sameFile) return sameFile;
  let earlier: Component | null = null;
  const goesOn = async (hash: string): Promise<boolean> => {
    earlier = await sameCode(platform, ownerId, hash);
    if (earlier) {
      const given = loader.files?.();
      if (given) await addFiles(platform, earlier._id, given);
      return false;
    }
    await checkCount(platform, ownerId, "components");
    await checkQuota(platform, ownerId);
    return true;
  };
  const options = { ...platform.config, account: ownerId, goesOn };
  const saved = await withBuilt(loader, options, built =>
    describeAndStore(platform, { ownerId, userId }, built, {
      ...{ code: entry.text, url },
      given: loader.files?.() ?? null,
    }),
  );
  // One of the two: it is not built only because it is known.
  return (saved ?? earlier) as Component;
}

async function describeAndStore(
  platform: Calling,
  { ownerId, userId }: Saver,
  built: Built,
  { code, url, given }: { code: string; url: string | null; given: GivenFiles | null },
): Promise<Component> {
  const sandboxes = await platform.sandboxes();
  const { usesRespond, addsSlash, ...description } = await describes.run(ownerId, () =>
    describeComponent(sandboxes, built.bundle, {
      owner: ownerId,
      onEnded: ms => void countRuns(platform, ownerId, 0, ms).catch(() => undefined),
    }),
  );
  const component = newComponent(platform, { ownerId, userId }, built, {
    ...{ code, url, description, traits: { usesRespond, addsSlash } },
  });
  try {
    await storeComponent(platform, component, built, given);
    return component;
  } catch (error) {
    const winner = isDuplicateKey(error) ? await sameCode(platform, ownerId, built.hash) : null;
    if (!winner) throw error;
    return winner;
  }
}

/** Returns the document of a component that was built and described; nothing of it is published. */
export function newComponent(
  { clock }: Pick<Stores, "clock">,
  { ownerId, userId }: Saver,
  built: Pick<Built, "hash" | "packages"> & { bundle: { hash: string } },
  given: { code: string; url: string | null; description: ComponentDescription; traits: CodeTraits },
): Component {
  const { code, url, description, traits } = given;
  const now = unixSeconds(clock());
  return {
    _id: newId("sc", clock()),
    owner_id: ownerId,
    user_id: userId,
    code,
    component_url: url,
    code_hash: built.hash,
    bundle_hash: built.bundle.hash,
    key: description.key ?? null,
    name: description.name,
    version: description.version,
    description,
    packages: built.packages,
    uses_respond: traits.usesRespond,
    adds_slash: traits.addsSlash,
    published: false,
    used_at_ms: null,
    created_at: now,
    updated_at: now,
  };
}

/** Stores component and bundle, both or neither, with the component's files if it has several. */
export async function storeComponent(
  { mongo }: Pick<Stores, "mongo">,
  component: Component,
  built: Built,
  given: GivenFiles | null,
): Promise<void> {
  const row: ComponentRow = given ? { ...component, files: await packFiles(given) } : component;
  const form = await formOfBundles(mongo);
  await transaction(mongo, async session => {
    await storeBundle(mongo, session, built, form);
    await Components(mongo).insertMany([row], { session });
  });
}

function sameCode(platform: Calling, ownerId: string, codeHash: string): Promise<Component | null> {
  return Components(platform.mongo).findOne({ owner_id: ownerId, code_hash: codeHash }).lean();
}

/** The ways in which a request names a component. */
export interface ComponentInput {
  component_id?: string;
  component_code?: string;
  files?: Record<string, string>;
  entry?: string;
  component_url?: string;
  key?: string;
}

/** The fields of which a request that names a component has one, in the order in which they count. */
export const COMPONENT_SOURCES = ["component_id", "key", ...CODE_SOURCES] as const;
const FIELDS = [...COMPONENT_SOURCES, "entry"] as const;

const URL_FIELD = { in: "body", path: "component_url" } as const;

/** True if the request names a component in any of these ways. */
export const namesComponent = (input: ComponentInput): boolean =>
  FIELDS.some(field => input[field] !== undefined);

/**
 * True if the request names a component, by its id or key, that is another one than before. To send code is to edit one's
 * own: who may edit it can read the secrets that it gets (docs/rest-api.md#secrets-and-updates). Another version of what the
 * gallery has under a key is not another component: both came with a release, or from one index.
 */
export const isReplaced = (input: ComponentInput, component: Component, before: Component): boolean =>
  (input.component_id ?? input.key) !== undefined &&
  component._id !== before._id &&
  !(
    isGalleryOwner(before.owner_id) &&
    component.owner_id === before.owner_id &&
    component.key === before.key
  );

/**
 * Finds or saves the component that a request names: by id, else by key, else by its code (`saveComponent`). What an organization
 * deploys may use every component that the deploying member can read (docs/rest-api.md#sources). Throws `not-found`,
 * `conflict` for a key that means several, and `invalid` also for an action that is deployed as a source or the reverse.
 */
export async function resolveComponent(
  platform: Calling,
  deployer: Deployer,
  input: ComponentInput,
  as: "source" | "action",
): Promise<Component> {
  // Also where it is only metadata.
  if (input.component_url !== undefined) checkUrlText(input.component_url, URL_FIELD);
  const component = await findOrSave(platform, deployer, input);
  if (isAction(component.description) === (as === "action")) return component;
  const path = FIELDS.find(field => input[field] !== undefined) ?? "component_id";
  const message = as === "action" ? IS_SOURCE : IS_ACTION;
  throw invalidField("body", path, message);
}

const IS_SOURCE = 'is not an action (type: "action"); deploy it by POST /sources';
const IS_ACTION = 'is an action; deploy it by POST /destinations with the kind "action"';

async function findOrSave(platform: Calling, deployer: Deployer, input: ComponentInput): Promise<Component> {
  const named = input.component_id ?? input.key;
  if (named !== undefined) {
    const component = await findComponentToRun(platform, named, deployer.readable);
    if (!component) throw notFound("component");
    return component;
  }
  if (!namesComponent(input)) {
    throw new AppError("invalid", `one of ${COMPONENT_SOURCES.join(", ")} is required`, {
      fields: COMPONENT_SOURCES.map(path => ({
        in: "body" as const,
        path,
        message: "one of these is required",
      })),
    });
  }
  return saveComponent(platform, { ownerId: deployer.owner, userId: deployer.userId }, input);
}
