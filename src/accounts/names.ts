import { isId } from "../lib/ids.ts";
import { Organizations } from "../models/organization.ts";
import { Sources } from "../models/source.ts";
import { usernamesOf } from "../models/user.ts";
import { receivesDeliveries, Webhooks } from "../models/webhook.ts";
import { Workflows } from "../models/workflow.ts";
import type { Stores } from "../platform.ts";

/** Returns the name of what has this id; null if it has none, is gone, or was out of reach when names were read. */
export type NameOf = (id: string) => string | null;

/**
 * Reads the names of the things that rows mention: sources, workflows, webhooks, destinations, and accounts. One query for each
 * kind, however many rows. A subscription may connect accounts, so a name is read only for who can read the thing: it is one of
 * `owners`, or theirs.
 */
export async function readNames({ mongo }: Stores, ids: Iterable<string>, owners: string[]): Promise<NameOf> {
  const all = [...new Set(ids)];
  const owned = (those: string[]) => ({ _id: { $in: those }, owner_id: { $in: owners } });
  const found = await Promise.all([
    readSome(
      all.filter(id => isId("dc", id)),
      those =>
        Sources(mongo)
          .find({ ...owned(those), state: "ready" }, { name: 1 })
          .lean(),
    ),
    readSome(
      all.filter(id => isId("p", id)),
      those => Workflows(mongo).find(owned(those), { name: 1 }).lean(),
    ),
    readSome(all.filter(receivesDeliveries), those => Webhooks(mongo).find(owned(those), { name: 1 }).lean()),
    readSome(
      all.filter(id => isId("o", id) && owners.includes(id)),
      those =>
        Organizations(mongo)
          .find({ _id: { $in: those } }, { name: 1 })
          .lean(),
    ),
    readSome(
      all.filter(id => isId("u", id) && owners.includes(id)),
      async those => [...(await usernamesOf(mongo, those))].map(([_id, name]) => ({ _id, name })),
    ),
  ]);
  const names = new Map(found.flat().map(({ _id, name }) => [_id, name]));
  return id => names.get(id) ?? null;
}

interface Named {
  _id: string;
  name: string | null;
}

const readSome = async (ids: string[], read: (ids: string[]) => Promise<Named[]>): Promise<Named[]> =>
  ids.length === 0 ? [] : await read(ids);
