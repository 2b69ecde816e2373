import { type Destination, Webhooks } from "../../models/webhook.ts";
import type { Platform } from "../../platform.ts";

/** Returns an action of one of these owners, otherwise null, for another kind of destination too (docs/design.md#guarantee-6). */
function findAction(
  { mongo }: Pick<Platform, "mongo">,
  id: string,
  owners: string[],
): Promise<Destination | null> {
  return Webhooks(mongo)
    .findOne({ _id: id, owner_id: { $in: owners }, kind: "action" })
    .lean<Destination | null>();
}

/** The access rule of routes whose path names an action. */
export const ownAction = { kind: "resource", what: "action", load: findAction } as const;
