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

export const newTally = (place: string): Tally => ({
  place,
  resealed: 0,
  busy: 0,
  unreadable: 0,
  ids: [],
});

export function noteUnreadable(tally: Tally, id: string): void {
  tally.unreadable += 1;
  if (tally.ids.length < MAX_SHOWN) tally.ids.push(id);
}
