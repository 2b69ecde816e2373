import { setTimeout as delay } from "node:timers/promises";
import { failpoint } from "../../lib/failpoint.ts";
import { SEALED_FIELDS, type SealedFields } from "../../models/sealed-fields.ts";
import type { Stores } from "../../platform.ts";
import { scanKeys } from "../../store/scan-keys.ts";
import type { Secrets } from "../../store/secrets.ts";

/** What `reseal` did. */
export interface Resealed {
  /** One for each collection, and one for Redis. */
  places: Tally[];
  /** What the last round still found: somebody stored it since, or is changing it. */
  left: number;
}

/** Rounds over everything: each one finds what others changed during the one before. */
const MAX_ROUNDS = 5;
/** Before another round, so that requests in progress may end. */
const PAUSE_MS = 1000;

/**
 * Encrypts with the first key of `SECRETS_KEY` everything stored under another one, while the platform runs. What another
 * process changes at the same moment stays as that has it, and is looked at again. Throws as the drivers do.
 */
export async function reseal(deps: Stores, progress: (tally: Tally) => void): Promise<Resealed> {
  const rounds: Tally[][] = [];
  let left: number;
  do {
    const round: Tally[] = [];
    for (const sealed of SEALED_FIELDS) round.push(await resealRows(deps, sealed, progress));
    round.push(await resealKeys(deps, progress));
    rounds.push(round);
    const busy = sum(round, "busy");
    left = busy + sum(round, "resealed");
    if (busy > 0) await delay(PAUSE_MS);
  } while (left > 0 && rounds.length < MAX_ROUNDS);
  return { places: joined(rounds), left };
}

const sum = (tallies: Tally[], what: "busy" | "resealed") =>
  tallies.reduce((total, tally) => total + tally[what], 0);

/** Adds up what the rounds did; what is busy or unreadable is as the last one found it. */
function joined(rounds: Tally[][]): Tally[] {
  const last = rounds.at(-1) ?? [];
  return last.map((tally, i) => ({
    ...tally,
    resealed: sum(
      rounds.map(round => round[i] as Tally),
      "resealed",
    ),
  }));
}

/** Ids shown of what can't be read. */
const MAX_SHOWN = 20;

/** What was found in one place: a collection, or Redis. */
export interface Tally {
  place: string;
  /** Rows or keys that were encrypted again. */
  resealed: number;
  /** What another process changed or began at the same moment, so that it has to be looked at again. */
  busy: number;
  /** What no key of `SECRETS_KEY` can read. */
  unreadable: number;
  /** The ids of those; the first few. */
  ids: string[];
}

const newTally = (place: string): Tally => ({ place, resealed: 0, busy: 0, unreadable: 0, ids: [] });

function noteUnreadable(tally: Tally, id: string): void {
  tally.unreadable += 1;
  if (tally.ids.length < MAX_SHOWN) tally.ids.push(id);
}

/** Selects the rows that have a sealed text with none of these beginnings. */
function withoutBeginnings({ fields, lists }: SealedFields, beginnings: readonly string[]): object {
  // Key ids are base64url, and so are without a character that means something to a regular expression.
  const $not = new RegExp(`^(${beginnings.map(text => text.replaceAll(".", "\\.")).join("|")})`);
  return {
    $or: [
      ...fields.map(field => ({ [field]: { $type: "string", $not } })),
      ...lists.map(({ list, field }) => ({ [list]: { $elemMatch: { [field]: { $type: "string", $not } } } })),
    ],
  };
}

/** Returns the text under the first key, itself if it is already, and null if no key can read it. */
function resealed(secrets: Secrets, sealed: string): string | null {
  if (sealed.startsWith(secrets.beginnings[0])) return sealed;
  try {
    return secrets.seal(secrets.open(sealed));
  } catch {
    return null;
  }
}

type Row = Record<string, unknown> & { _id: unknown };

const PAGE = 200;

/**
 * Encrypts the sealed fields of a collection with the first key, a page of rows at a time. A field that is changed at the same
 * moment stays as the change has it. What is done stays done: it goes on there the next time. Throws as the driver does.
 */
export async function resealRows(
  { mongo, secrets }: Stores,
  sealed: SealedFields,
  progress: (tally: Tally) => void,
): Promise<Tally> {
  const tally = newTally(sealed.name);
  const rows = sealed.rowsIn(mongo);
  const needed = withoutBeginnings(sealed, [secrets.beginnings[0]]);
  const projection = Object.fromEntries(
    [...sealed.fields, ...sealed.lists.map(({ list }) => list)].map(field => [field, 1]),
  );
  let after: unknown;
  for (;;) {
    const filter = { ...needed, ...(after !== undefined && { _id: { $gt: after } }) };
    const page = (await rows
      .find(filter as never, { projection })
      .sort({ _id: 1 })
      .limit(PAGE)
      .toArray()) as Row[];
    if (page.length === 0) return tally;
    after = page.at(-1)?._id;
    const updates = page.flatMap(row => updateOf(secrets, sealed, row, tally));
    if (updates.length > 0) {
      const { matchedCount } = await rows.bulkWrite(updates as never, { ordered: false });
      tally.resealed += matchedCount;
      tally.busy += updates.length - matchedCount;
    }
    failpoint("page-resealed");
    progress(tally);
  }
}

/** Returns the update of a row: of what can be read, if it is still as it was read. */
function updateOf(secrets: Secrets, { fields, lists }: SealedFields, row: Row, tally: Tally): object[] {
  const texts = [
    ...fields.map(field => [field, row[field]] as const),
    ...lists.flatMap(({ list, field }) =>
      ((row[list] as Record<string, unknown>[] | undefined) ?? []).map(
        (item, i) => [`${list}.${i}.${field}`, item[field]] as const,
      ),
    ),
  ];
  const before: Record<string, string> = {};
  const $set: Record<string, string> = {};
  let isUnreadable = false;
  for (const [path, text] of texts) {
    if (typeof text !== "string") continue;
    const again = resealed(secrets, text);
    if (again === null) isUnreadable = true;
    else if (again !== text) {
      before[path] = text;
      $set[path] = again;
    }
  }
  if (isUnreadable) noteUnreadable(tally, String(row._id));
  if (Object.keys($set).length === 0) return [];
  return [{ updateOne: { filter: { _id: row._id, ...before }, update: { $set } } }];
}

/** Keys that one step of a scan looks at. */
const STEP = 1000;

/** As `REPLACE` of src/http/idempotency.ts, with the time to live that the key has. */
const REPLACE = `
if redis.call("GET", KEYS[1]) ~= ARGV[1] then return 0 end
redis.call("SET", KEYS[1], ARGV[2], "KEEPTTL")
return 1`;

/** Returns the keys of Redis that hold a sealed text that begins with none of these, with the text. Throws as ioredis does. */
async function* sealedKeys(
  { redis, keys }: Stores,
  beginnings: readonly string[],
): AsyncGenerator<{ key: string; sealed: string }> {
  for (const pattern of keys.sealed()) {
    let cursor: string | null = null;
    do {
      const step = await scanKeys(redis, cursor, pattern, STEP);
      cursor = step.next;
      // One by one, because on a cluster they are in many slots; they are pipelined all the same.
      const values = await Promise.all(step.found.map(key => redis.get(key)));
      for (const [i, key] of step.found.entries()) {
        const sealed = values[i];
        if (sealed?.startsWith("v1.") && !beginnings.some(text => sealed.startsWith(text)))
          yield { key, sealed };
      }
    } while (cursor !== null);
  }
}

/**
 * Encrypts with the first key what Redis keeps for a while: responses for an `Idempotency-Key`, and consents in progress. A
 * request that is being handled keeps its record, and counts as busy.
 */
async function resealKeys(deps: Stores, progress: (tally: Tally) => void): Promise<Tally> {
  const { redis, secrets } = deps;
  const tally = newTally("Redis");
  for await (const { key, sealed } of sealedKeys(deps, [secrets.beginnings[0]])) {
    const again = resealed(secrets, sealed);
    if (again === null) noteUnreadable(tally, key);
    else if (isInProgress(secrets.open(sealed))) tally.busy += 1;
    else if (await redis.eval(REPLACE, 1, key, sealed, again)) tally.resealed += 1;
    else tally.busy += 1;
    progress(tally);
  }
  return tally;
}

/** True for the record of a request without a response: its process compares it with what it stored. */
function isInProgress(text: string): boolean {
  const value = JSON.parse(text) as { attempt?: unknown; response?: unknown };
  return value.attempt !== undefined && value.response === undefined;
}

/** How much of one place is under another key than the first. */
export interface SealedCount {
  place: string;
  /** Under another key of `SECRETS_KEY`. */
  due: number;
  /** Under a key that it does not contain. */
  unreadable: number;
}

/** Counts what is not encrypted with the first key of `SECRETS_KEY`, place by place, and changes nothing. */
export async function countSealed(deps: Stores): Promise<SealedCount[]> {
  const { mongo, secrets } = deps;
  const counts: SealedCount[] = [];
  for (const sealed of SEALED_FIELDS) {
    const count = (beginnings: readonly string[]) =>
      sealed.rowsIn(mongo).countDocuments(withoutBeginnings(sealed, beginnings) as never);
    const all = await count([secrets.beginnings[0]]);
    const unreadable = all === 0 ? 0 : await count(secrets.beginnings);
    counts.push({ place: sealed.name, due: all - unreadable, unreadable });
  }
  const redis = { place: "Redis", due: 0, unreadable: 0 };
  for await (const { sealed } of sealedKeys(deps, [secrets.beginnings[0]])) {
    const isReadable = secrets.beginnings.some(text => sealed.startsWith(text));
    redis[isReadable ? "due" : "unreadable"] += 1;
  }
  return [...counts, redis];
}
