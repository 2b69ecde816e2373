import { groupBy } from "../lib/lists.ts";
import { Memberships } from "../models/organization.ts";
import { Webhooks } from "../models/webhook.ts";
import type { Stores } from "../platform.ts";
import { type EmissionOnItsWay, noteArrived, noteOnTheirWay } from "../store/events/on-their-way.ts";

/** Ends the wait for all emissions but those with these emit ids. */
export type Release = (except?: ReadonlySet<string>) => void;

/** An emission and the owner of its emitter. */
export type OwnedEmission = EmissionOnItsWay & { ownerId: string };

/**
 * Has the ordered webhooks that may receive these emissions wait for them, from before their event ids are given. The
 * returned function ends that for those that are stored or given up: all but the given ones. It never throws. Accounts
 * without an ordered webhook pay nothing (docs/decisions/0011-order-and-rates.md). Throws `unavailable`.
 */
export async function holdForEmissions(platform: Stores, emissions: OwnedEmission[]): Promise<Release> {
  const byOwner = groupBy(emissions, ({ ownerId }) => ownerId);
  const hasOrder = await Promise.all([...byOwner.keys()].map(id => hasOrderedWebhooks(platform, id)));
  const held = [...byOwner].filter((_, i) => hasOrder[i]);
  await Promise.all(held.map(([ownerId, ofOne]) => noteOnTheirWay(platform, ownerId, ofOne)));
  return (except = new Set()) => {
    for (const [ownerId, ofOne] of held) {
      const arrived = ofOne.filter(({ emit_id }) => !except.has(emit_id));
      // Otherwise they are waited for a little longer.
      void noteArrived(platform, ownerId, arrived).catch(() => undefined);
    }
  };
}

/** Whether a webhook that may receive an account's events is ordered: its own, or one of a member of it. From the routing cache. */
async function hasOrderedWebhooks(platform: Stores, accountId: string): Promise<boolean> {
  const members = new Map<string, string[]>();
  const found = await platform.routing.lookUp(
    "has-ordered",
    [accountId],
    async () => {
      const memberships = await Memberships(platform.mongo)
        .find({ org_id: accountId }, { user_id: 1 })
        .lean();
      const owners = [accountId, ...memberships.map(({ user_id }) => user_id)];
      members.set(accountId, owners);
      const ordered = await Webhooks(platform.mongo).exists({ owner_id: { $in: owners }, ordered: true });
      return new Map([[accountId, ordered !== null]]);
    },
    (_, id) => members.get(id) ?? [id],
  );
  return found.get(accountId) ?? false;
}
