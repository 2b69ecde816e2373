import { AppError } from "../lib/errors.ts";

/** What a name may mean. */
interface Named {
  _id: string;
  owner_id: string;
}

/** Things with one name that a `conflict` names; a user may be a member of very many organizations. */
export const MAX_NAMED = 10;

/**
 * Returns which of the things with one name is meant, or null if there is none: for a request that only `reads`, that of
 * the account of the request; otherwise the only one. Throws `conflict` that names each if there are several. A request
 * that changes something or runs code never guesses: it can't be taken back (docs/decisions/0048-whose-thing-a-name-means.md).
 */
export function meantBy<Thing extends Named>(
  name: string,
  found: Thing[],
  { account, reads }: { account: string | undefined; reads: boolean },
): Thing | null {
  const own = reads && found.find(({ owner_id }) => owner_id === account);
  if (own) return own;
  const [thing = null, ...others] = found;
  if (others.length === 0) return thing;
  const each = found.map(({ _id, owner_id }) => `${_id} of ${owner_id}`).join(", ");
  throw new AppError("conflict", `${name} means several: ${each}; use the id of one`);
}
