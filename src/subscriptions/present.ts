import { findFunctionCode } from "../functions/find-function.ts";
import type { Subscription } from "../models/subscription.ts";
import type { Platform } from "../platform.ts";

/** Returns a subscription as its owner sees it in lists: of its function only the hash, and how it fares. */
export function presentSubscription({
  _id,
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

/** Returns a subscription with the code of its function. */
export async function presentWithFunction(platform: Pick<Platform, "mongo">, subscription: Subscription) {
  const { function_hash } = subscription;
  const code = function_hash === undefined ? null : await findFunctionCode(platform, function_hash);
  return { ...presentSubscription(subscription), ...(code !== null && { function: code }) };
}
