import { LIMITS } from "../../limits/catalogue.ts";
import { SourceMemories } from "../../models/source.ts";
import { Webhooks } from "../../models/webhook.ts";
import type { Stores } from "../../platform.ts";
import type { DescribedProp } from "../../sandbox/protocol.ts";
import { isDuplicateKey } from "../../store/connections/mongo.ts";

/** What `$.service.db` holds. */
export type Db = Record<string, unknown>;

/** Other attempts may store at the same moment; each try is lost to one that succeeds. */
const TRIES = 50;

/** True if an action's code has a db of its own. */
export const hasDb = (props: DescribedProp[]): boolean => props.some(({ type }) => type === "$.service.db");

/** Returns the db of an action, stored where that of a source is. */
export async function readDb({ mongo }: Stores, destinationId: string): Promise<Db> {
  const stored = await SourceMemories(mongo).findById(destinationId, { db: 1 }).lean();
  return stored ? JSON.parse(stored.db) : {};
}

/**
 * Stores the keys that an attempt has changed, over what others that ran at the same time have stored since: of each key, the
 * last value counts (docs/actions.md#db). If all of them together are too much, only the attempt's own are kept. Does
 * nothing if the destination is deleted.
 */
export async function saveDb(platform: Stores, destinationId: string, before: Db, after: Db): Promise<void> {
  const { mongo } = platform;
  const changes = changedKeys(before, after);
  if (changes.length === 0 || !(await Webhooks(mongo).exists({ _id: destinationId }))) return;
  for (let left = TRIES; left > 0; left--) {
    const stored = await SourceMemories(mongo).findById(destinationId).lean();
    const merged = merge(stored ? JSON.parse(stored.db) : {}, changes);
    const text = JSON.stringify(merged);
    const db = Buffer.byteLength(text) > LIMITS.databaseBytes.value ? JSON.stringify(after) : text;
    const version = (stored?.version ?? 0) + 1;
    if (stored) {
      const at = { _id: destinationId, version: stored.version };
      if ((await SourceMemories(mongo).updateOne(at, { $set: { db, version } })).matchedCount > 0) return;
    } else if (await insert(platform, { _id: destinationId, db, dedupe: "{}", version })) return;
  }
  throw new Error(`the db of ${destinationId} can't be stored: others are always first`);
}

/** Returns false if another attempt was first. */
async function insert(
  { mongo }: Stores,
  memory: { _id: string; db: string; dedupe: string; version: number },
): Promise<boolean> {
  try {
    await SourceMemories(mongo).insertMany([memory]);
    return true;
  } catch (error) {
    if (isDuplicateKey(error)) return false;
    throw error;
  }
}

type Change = [key: string, value: unknown];

/** Of a key that was deleted, the value is undefined. */
function changedKeys(before: Db, after: Db): Change[] {
  const [old, now] = [new Map(Object.entries(before)), new Map(Object.entries(after))];
  return [...new Set([...old.keys(), ...now.keys()])]
    .filter(key => JSON.stringify(old.get(key)) !== JSON.stringify(now.get(key)))
    .map(key => [key, now.get(key)]);
}

function merge(db: Db, changes: Change[]): Db {
  const merged = new Map(Object.entries(db));
  for (const [key, value] of changes) {
    if (value === undefined) merged.delete(key);
    else merged.set(key, value);
  }
  return Object.fromEntries(merged);
}
