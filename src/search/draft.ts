import { shownOrg } from "../accounts/access.ts";
import type { IdPrefix } from "../lib/ids.ts";
import { LIMITS } from "../limits/catalogue.ts";
import type { SearchHit } from "./schema.ts";

/** What is looked for, and for whom. */
export interface Search {
  q: string;
  /** The account of the request, and those whose things it can read. */
  owner: string;
  owners: string[];
  /** Whose API keys are looked at. */
  userId: string;
}

/** How well a hit fits, the best first. */
export const RANK = {
  id: 0,
  idBegins: 1,
  name: 2,
  nameBegins: 3,
  nameContains: 4,
  url: 5,
  text: 6,
} as const;
export type Rank = (typeof RANK)[keyof typeof RANK];

/** A hit before names were read. */
export interface Draft extends Omit<SearchHit, "name" | "why"> {
  rank: Rank;
  /** Its own name, or the ids of what it is named by. */
  name: string | null | { of: string[] };
}

/** What one kind found; `isPartial` if there may be more than was read. */
export interface Found {
  drafts: Draft[];
  isPartial?: boolean;
}

/** As many of a kind are read; the best of them are shown. */
export const READ = LIMITS.searchHits.value;

/** What a kind that takes longer costs is not worth what it finds. Milliseconds. */
export const options = { maxTimeMS: LIMITS.searchMs.value } as const;

/** Returns the fields of a hit that everything has which an account owns. */
export const owned = ({ _id, owner_id }: { _id: string; owner_id: string }) => ({
  id: _id,
  ...shownOrg(owner_id),
});

/** Returns how well an id fits that begins with the text. */
export const rankOfId = (id: string, q: string): Rank => (id === q ? RANK.id : RANK.idBegins);

/** Shorter beginnings of an id are in a name rather than meant as an id. */
const LEAST_ID_CHARS = 3;

/** Returns true for the text of an id with one of these prefixes, or for its beginning. */
export function mayBeId(q: string, prefixes: readonly IdPrefix[]): boolean {
  const [, prefix = "", rest = ""] = /^([a-z]+)_([0-9A-Za-z]{0,16})$/.exec(q) ?? [];
  return (prefixes as readonly string[]).includes(prefix) && rest.length >= LEAST_ID_CHARS;
}
