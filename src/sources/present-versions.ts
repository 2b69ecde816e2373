import { readFiles } from "../components/stored-bundle.ts";
import { notFound } from "../lib/errors.ts";
import { type Component, Components } from "../models/component.ts";
import type { Source } from "../models/source.ts";
import { usernamesOf } from "../models/user.ts";
import type { Stores } from "../platform.ts";
import { listVersions } from "./versions.ts";

/** What a list shows of components: not their code. */
const DESCRIBED = { owner_id: 1, published: 1, code_hash: 1, version: 1, component_url: 1 };
type Described = Pick<Component, "_id" | keyof typeof DESCRIBED>;

/** An organization's source may run the component of a member, whose code others don't see. */
const canRead = ({ owner_id, published }: Described, readable: readonly string[]) =>
  published || readable.includes(owner_id);

/**
 * Returns the versions of a source's code as the API shows them to who can read these accounts, the newest first
 * (docs/rest-api.md#versions-of-a-sources-code).
 */
export async function presentVersions(platform: Stores, source: Source, readable: readonly string[]) {
  const { mongo } = platform;
  const versions = await listVersions(platform, source);
  const componentIds = versions.map(({ component_id }) => component_id);
  const userIds = versions.flatMap(({ user_id }) => user_id ?? []);
  const [components, names] = await Promise.all([
    Components(mongo)
      .find({ _id: { $in: componentIds } }, DESCRIBED)
      .lean<Described[]>(),
    usernamesOf(mongo, userIds),
  ]);
  const readableOnes = components.filter(component => canRead(component, readable));
  const byId = new Map(readableOnes.map(component => [component._id, component]));
  return versions.map(({ user_id, ...version }, at) => {
    const component = byId.get(version.component_id);
    return {
      ...version,
      user_id,
      username: names.get(user_id ?? "") ?? null,
      component_url: component?.component_url ?? null,
      component_version: component?.version ?? null,
      code_hash: component?.code_hash ?? null,
      is_current: at === 0,
      can_restore: component !== undefined,
    };
  });
}

const NO_CODE = { code: null, files: null, entry: null };

/** Returns a version with its code; null for code that is gone, or that is not the caller's to read. Throws `not-found`. */
export async function presentVersion(
  platform: Stores,
  source: Source,
  number: number,
  readable: readonly string[],
) {
  const shown = (await presentVersions(platform, source, readable)).find(one => one.number === number);
  if (!shown) throw notFound("version");
  const component = shown.can_restore
    ? await Components(platform.mongo).findById(shown.component_id).lean<Component | null>()
    : null;
  if (!component) return { ...shown, ...NO_CODE };
  return { ...shown, code: component.code, ...(await readFiles(platform, component)) };
}
