import { countRuns } from "../../accounts/usage.ts";
import { newToken } from "../../lib/ids.ts";
import type { Bundle } from "../../sandbox/bundle.ts";
import type { CallOptions } from "../../sandbox/call-options.ts";
import type { CallRequest, CallResult } from "../../sandbox/protocol.ts";
import type { TrialDeps } from "./build.ts";

/**
 * Calls a component once in a process of its own, which no source shares and which ends with the call. It counts as a run
 * of the account. Throws `unavailable` if no process can be started.
 */
export async function callOnce(
  platform: TrialDeps,
  ownerId: string,
  bundle: Bundle,
  request: CallRequest,
  options: Pick<CallOptions, "wallMs" | "onRespond">,
): Promise<CallResult> {
  const sandboxes = await platform.sandboxes();
  const key = `once-${newToken()}`;
  try {
    const result = await sandboxes.call(key, bundle, request, { ...options, owner: ownerId });
    await countRuns(platform, ownerId, 1, result.durationMs).catch(() => undefined);
    return result;
  } finally {
    sandboxes.drop(key);
  }
}
