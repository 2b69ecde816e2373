import { Sources } from "../models/source.ts";
import type { Subscription } from "../models/subscription.ts";
import { Workflows } from "../models/workflow.ts";
import type { Platform } from "../platform.ts";

/**
 * Returns the accounts whose events take another route when these subscriptions are made, changed or deleted: their owners,
 * and the owners of the emitters that they name, which may be another account, since a member of an organization
 * subscribes to its emitters (docs/decisions/0013-routing-cache.md).
 */
export async function accountsOfSubscriptions(
  platform: Pick<Platform, "mongo">,
  subscriptions: Pick<Subscription, "owner_id" | "emitter_id">[],
): Promise<string[]> {
  const named = subscriptions.map(({ emitter_id }) => emitter_id);
  const idsOf = (prefix: string) => named.filter(id => id.startsWith(prefix) && !id.endsWith("*"));
  const owners = await Promise.all([
    Sources(platform.mongo)
      .find({ _id: { $in: idsOf("dc_") } }, { owner_id: 1 })
      .lean(),
    Workflows(platform.mongo)
      .find({ _id: { $in: idsOf("p_") } }, { owner_id: 1 })
      .lean(),
  ]);
  return [
    ...new Set([
      ...subscriptions.map(({ owner_id }) => owner_id),
      ...named.filter(id => id.startsWith("o_")),
      ...owners.flat().map(({ owner_id }) => owner_id),
    ]),
  ];
}
