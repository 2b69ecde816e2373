import { countRuns } from "../../accounts/usage.ts";
import { noteUse, type Use } from "../../connections/note-use.ts";
import { newToken } from "../../lib/ids.ts";
import type { Bundle } from "../../sandbox/bundle.ts";
import type { CallOptions } from "../../sandbox/call-options.ts";
import type { CallRequest, CallResult } from "../../sandbox/protocol.ts";
import type { TrialDeps } from "./build.ts";

/**
 * Calls a component once in a process of its own, which no source shares and which ends with the call. It counts as a run
 * of the account. `use` are the tokens among the props. Throws `unavailable` if no process can be started.
 */
export async function callOnce(
  platform: TrialDeps,
  ownerId: string,
  bundle: Bundle,
  request: CallRequest,
  { use, ...options }: Pick<CallOptions, "wallMs" | "onRespond"> & { use: Use },
): Promise<CallResult> {
  const sandboxes = await platform.sandboxes();
  const key = `once-${newToken()}`;
  try {
    const result = await sandboxes.call(key, bundle, request, { ...options, owner: ownerId });
    await countRuns(platform, ownerId, 1, result.durationMs).catch(() => undefined);
    await noteUse(platform, use, result);
    return result;
  } finally {
    sandboxes.drop(key);
  }
}
