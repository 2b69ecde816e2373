import { readNames } from "../accounts/names.ts";
import { LIMITS } from "../limits/catalogue.ts";
import type { Stores } from "../platform.ts";
import { findByEndpoint, findKeys, findOwned, findRuns } from "./by-id.ts";
import { findByText, findDeliveries } from "./deliveries.ts";
import { type Draft, type Found, RANK, type Rank, type Search } from "./draft.ts";
import { findByEmitId, findByEventId } from "./events.ts";
import { RESOURCES } from "./resources.ts";
import { KINDS, type SearchHit, type SearchResult } from "./schema.ts";

type Finder = (platform: Stores, search: Search) => Promise<Found>;

/** What finds by the form of an id. */
const BY_ID: Finder[] = [
  ...RESOURCES.map(({ findById }) => findById),
  ...[findOwned, findDeliveries, findRuns, findByEventId],
];
/** What finds by any text. */
const BY_TEXT: Finder[] = [
  ...RESOURCES.map(({ findByText }) => findByText),
  ...[findKeys, findByEndpoint, findByText],
];
/** One look-up for each emitter, which costs as much as all the others together. */
const BY_EMIT_ID: Finder[] = [findByEmitId];

/** MongoDB's error for what `maxTimeMS` ended. */
const MAX_TIME_MS_EXPIRED = 50;
const HITS = LIMITS.searchHits.value;
const HITS_OF_KIND = LIMITS.searchHitsOfKind.value;

const WHY: Record<Rank, SearchHit["why"]> = {
  [RANK.id]: "id",
  [RANK.idBegins]: "id",
  [RANK.name]: "name",
  [RANK.nameBegins]: "name",
  [RANK.nameContains]: "name",
  [RANK.url]: "url",
  [RANK.text]: "text",
};

/**
 * Finds what the caller's accounts own by a text: by id, whole or its beginning, by name and address, and by the words of payloads.
 * Each kind is asked at the same time, and those that take too long are left out.
 */
export async function search(platform: Stores, request: Search): Promise<SearchResult> {
  const wanted = { ...request, q: request.q.trim() };
  if (wanted.q === "") return { hits: [], partial: false };
  const byId = await findAll(platform, wanted, BY_ID);
  // Who gives an id, or the beginning of one, means it.
  const isFound = byId.drafts.length > 0;
  const parts = isFound ? [byId] : [byId, ...(await findInText(platform, wanted))];
  const best = bestOf(parts.flatMap(({ drafts }) => drafts));
  return {
    hits: await withNames(platform, best, wanted.owners),
    partial: parts.some(({ isPartial }) => isPartial),
  };
}

/**
 * Finds by a text that is not the id of a thing. A publisher's emit id has a number or a mark as a rule: what is letters alone is looked
 * for among emit ids only if nothing else has it.
 */
async function findInText(platform: Stores, wanted: Search): Promise<FoundOfAll[]> {
  if (!/^\p{L}+$/u.test(wanted.q)) return [await findAll(platform, wanted, [...BY_TEXT, ...BY_EMIT_ID])];
  const byText = await findAll(platform, wanted, BY_TEXT);
  return byText.drafts.length > 0 ? [byText] : [byText, await findAll(platform, wanted, BY_EMIT_ID)];
}

type FoundOfAll = Required<Found>;

async function findAll(platform: Stores, wanted: Search, finders: Finder[]): Promise<FoundOfAll> {
  const found = await Promise.all(finders.map(find => inTime(find(platform, wanted))));
  return {
    drafts: found.flatMap(one => one?.drafts ?? []),
    isPartial: found.some(one => one === null || one.isPartial === true),
  };
}

/** Returns null for what takes too long; what it still does ends by itself, because each query is bounded. */
async function inTime(finding: Promise<Found>): Promise<Found | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>(resolve => {
    timer = setTimeout(resolve, LIMITS.searchMs.value, null);
  });
  try {
    return await Promise.race([finding, late]);
  } catch (error) {
    if ((error as { code?: unknown }).code === MAX_TIME_MS_EXPIRED) return null;
    throw error;
  } finally {
    clearTimeout(timer);
    finding.catch(() => undefined);
  }
}

/** Returns each thing once, the best of each kind, in the order in which they are shown. */
function bestOf(drafts: Draft[]): Draft[] {
  const left = new Map(KINDS.map(kind => [kind, HITS_OF_KIND]));
  const seen = new Set<string>();
  const inOrder = [...drafts].sort(
    (a, b) =>
      a.rank - b.rank || KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind) || (b.at_ms ?? 0) - (a.at_ms ?? 0),
  );
  const best = inOrder.filter(({ kind, id, emitter_id }) => {
    const key = `${kind}\0${id}\0${emitter_id ?? ""}`;
    const room = left.get(kind) ?? 0;
    if (seen.has(key) || room === 0) return false;
    seen.add(key);
    left.set(kind, room - 1);
    return true;
  });
  return best.slice(0, HITS);
}

async function withNames(platform: Stores, drafts: Draft[], owners: string[]): Promise<SearchHit[]> {
  const ids = drafts.flatMap(({ name }) => (typeof name === "object" && name !== null ? name.of : []));
  const nameOf = await readNames(platform, ids, owners);
  return drafts.map(({ rank, name, ...draft }) => ({
    ...draft,
    name: typeof name === "object" && name !== null ? name.of.map(id => nameOf(id) ?? id).join(" → ") : name,
    why: WHY[rank],
  }));
}
