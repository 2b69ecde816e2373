import { shownOrg } from "../accounts/access.ts";
import { type NameOf, readNames } from "../accounts/names.ts";
import { findFunctionCode } from "../functions/find-function.ts";
import type { AutoSubscription, Subscription } from "../models/subscription.ts";
import type { Stores } from "../platform.ts";
import { revisionOf } from "../store/revisions.ts";

/** Returns a subscription as its owner sees it in lists: of its function only the hash, and how it fares. */
function presentSubscription(subscription: Subscription, nameOf: NameOf) {
  const { _id, owner_id, emitter_id, listener_id, event_name, filter } = subscription;
  const { function_hash, function_errors = 0, last_function_error } = subscription;
  return {
    id: _id,
    ...shownOrg(owner_id),
    emitter_id,
    emitter_name: nameOf(emitter_id),
    listener_id,
    listener_name: nameOf(listener_id),
    event_name,
    ...(filter !== null && { filter: JSON.parse(filter) as Record<string, unknown> }),
    ...(function_hash !== undefined && {
      function_hash,
      function_errors,
      ...(last_function_error && { last_function_error }),
    }),
    revision: revisionOf(subscription),
  };
}

/** Returns subscriptions as lists show them, with the names of their emitters and listeners that these accounts can read. */
export async function presentSubscriptions(
  platform: Stores,
  subscriptions: Subscription[],
  owners: string[],
) {
  const ids = subscriptions.flatMap(({ emitter_id, listener_id }) => [emitter_id, listener_id]);
  const nameOf = await readNames(platform, ids, owners);
  return subscriptions.map(subscription => presentSubscription(subscription, nameOf));
}

/** Returns an auto subscription as its owner sees it in lists: of its function only the hash. */
export const presentAutoSubscription = ({
  _id,
  listener_id,
  event_name,
  function_hash,
}: AutoSubscription) => ({
  id: _id,
  listener_id,
  event_name,
  ...(function_hash !== undefined && { function_hash }),
});

/** Returns a subscription with the code of its function, and names as `presentSubscriptions`. */
export async function presentWithFunction(platform: Stores, subscription: Subscription, owners: string[]) {
  const { emitter_id, listener_id } = subscription;
  const [nameOf, code] = await Promise.all([
    readNames(platform, [emitter_id, listener_id], owners),
    codeOf(platform, subscription),
  ]);
  return { ...presentSubscription(subscription, nameOf), ...code };
}

/** Returns an auto subscription with the code of its function. */
export const presentAutoWithFunction = async (platform: Stores, autoSubscription: AutoSubscription) => ({
  ...presentAutoSubscription(autoSubscription),
  ...(await codeOf(platform, autoSubscription)),
});

async function codeOf(platform: Stores, { function_hash }: { function_hash?: string }) {
  const code = function_hash === undefined ? null : await findFunctionCode(platform, function_hash);
  return code === null ? {} : { function: code };
}
