import type { ClientSession } from "mongoose";
import type { Deployer } from "../components/deployer.ts";
import { COMPONENT_SOURCES, type ComponentInput } from "../components/save.ts";
import { notFound } from "../lib/errors.ts";
import { derivedId, newId, timeOfId } from "../lib/ids.ts";
import { unixSeconds } from "../lib/time.ts";
import { LIMITS } from "../limits/catalogue.ts";
import { CodeHistories, type CodeOrigin, type CodeVersion } from "../models/code-history.ts";
import type { Source } from "../models/source.ts";
import type { Stores } from "../platform.ts";

/** What versions are kept of. */
type Versioned = Pick<Source, "_id" | "component_id" | "created_at">;

const UNKNOWN: CodeOrigin = { user_id: null, key_id: null, from: null, comment: null, restored_from: null };

/** Returns where the code is from that a request gives a source; of a restored version, how it once was given. */
export const originOf = (
  { userId, keyId }: Deployer,
  input: ComponentInput & { comment?: string },
  restored?: CodeVersion,
): CodeOrigin => ({
  user_id: userId,
  key_id: keyId ?? null,
  from: restored ? restored.from : (COMPONENT_SOURCES.find(field => input[field] !== undefined) ?? null),
  comment: input.comment ?? null,
  restored_from: restored?.number ?? null,
});

/** Keeps the code with which a source is deployed as its first version, in the transaction that makes it ready. */
export const keepFirstVersion = (
  platform: Stores,
  session: ClientSession,
  source: Versioned,
  origin: CodeOrigin = UNKNOWN,
): Promise<void> => keep(platform, session, source._id, [], { ...origin, component_id: source.component_id });

/**
 * Keeps the code that a change gives a source as its next version, in the transaction of that change; does nothing if the code
 * stays. `before` is the source without the change.
 */
export async function keepNextVersion(
  platform: Stores,
  session: ClientSession,
  before: Versioned,
  { component_id, origin = UNKNOWN }: { component_id: string; origin?: CodeOrigin | undefined },
): Promise<void> {
  if (before.component_id === component_id) return;
  const history = await CodeHistories(platform.mongo).findById(before._id).session(session).lean();
  await keep(platform, session, before._id, withPresent(before, history?.versions ?? []), {
    ...origin,
    component_id,
  });
}

async function keep(
  { mongo, clock }: Stores,
  session: ClientSession,
  _id: string,
  earlier: readonly CodeVersion[],
  made: CodeOrigin & { component_id: string },
): Promise<void> {
  const next: CodeVersion = {
    id: newId("cv", clock()),
    number: (earlier.at(-1)?.number ?? 0) + 1,
    ...made,
    created_at: unixSeconds(clock()),
  };
  const versions = [...earlier, next].slice(-LIMITS.codeVersions.value);
  await CodeHistories(mongo).updateOne({ _id }, { $set: { versions } }, { session, upsert: true });
}

/**
 * Returns the versions with the code that the source has now, if that is none of them: a release that keeps no versions deployed it.
 * Its id is the same each time, and later than the others'.
 */
function withPresent(source: Versioned, kept: readonly CodeVersion[]): readonly CodeVersion[] {
  const last = kept.at(-1);
  if (last?.component_id === source.component_id) return kept;
  const atMs = last ? (timeOfId(last.id) ?? 0) + 1 : source.created_at * 1000;
  const present: CodeVersion = {
    id: derivedId("cv", atMs, source._id, source.component_id),
    number: (last?.number ?? 0) + 1,
    component_id: source.component_id,
    ...UNKNOWN,
    created_at: null,
  };
  return [...kept, present].slice(-LIMITS.codeVersions.value);
}

/** Returns the versions of a source's code that are kept, the newest first: that is the one it has now. */
export async function listVersions({ mongo }: Stores, source: Versioned): Promise<CodeVersion[]> {
  const history = await CodeHistories(mongo).findById(source._id).lean();
  return [...withPresent(source, history?.versions ?? [])].reverse();
}

/** Returns a version of a source's code. Throws `not-found` if it is not kept. */
export async function findVersion(platform: Stores, source: Versioned, number: number): Promise<CodeVersion> {
  const versions = await listVersions(platform, source);
  const version = versions.find(one => one.number === number);
  if (!version) throw notFound("version");
  return version;
}
