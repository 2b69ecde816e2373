import { shownOrg } from "../accounts/access.ts";
import { findFunctionCode } from "../functions/find-function.ts";
import type { AutoSubscription, Subscription } from "../models/subscription.ts";
import type { Stores } from "../platform.ts";

/** Returns a subscription as its owner sees it in lists: of its function only the hash, and how it fares. */
export function presentSubscription({
  _id,
  owner_id,
  emitter_id,
  listener_id,
  event_name,
  filter,
  function_hash,
  function_errors = 0,
  last_function_error,
}: Subscription) {
  return {
    id: _id,
    ...shownOrg(owner_id),
    emitter_id,
    listener_id,
    event_name,
    ...(filter !== null && { filter: JSON.parse(filter) as Record<string, unknown> }),
    ...(function_hash !== undefined && {
      function_hash,
      function_errors,
      ...(last_function_error && { last_function_error }),
    }),
  };
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

/** Returns a subscription with the code of its function. */
export const presentWithFunction = async (platform: Stores, subscription: Subscription) => ({
  ...presentSubscription(subscription),
  ...(await codeOf(platform, subscription)),
});

/** Returns an auto subscription with the code of its function. */
export const presentAutoWithFunction = async (platform: Stores, autoSubscription: AutoSubscription) => ({
  ...presentAutoSubscription(autoSubscription),
  ...(await codeOf(platform, autoSubscription)),
});

async function codeOf(platform: Stores, { function_hash }: { function_hash?: string }) {
  const code = function_hash === undefined ? null : await findFunctionCode(platform, function_hash);
  return code === null ? {} : { function: code };
}
