import { AppError } from "../lib/errors.ts";
import { newId } from "../lib/ids.ts";
import type { Platform } from "../platform.ts";
import { enqueueRun } from "../queues/enqueue-run.ts";
import type { ChangeItem } from "../queues/run-item.ts";

export type ChangePlatform = Pick<Platform, "queues" | "runQueue" | "replies" | "clock" | "config">;

/** How long a change may wait for a worker before it is void; never longer than its hooks may take. */
const CHANGE_WAITS_MS = 15_000;

/**
 * Puts a change into the source's line and waits for the worker's word: `stale` when the source is not the one that the
 * change was prepared for. Throws `invalid` with the error of the hook that refused, `unavailable` when no worker came
 * to it in time; nothing was done then.
 */
export async function requestChange(
  platform: ChangePlatform,
  sourceId: string,
  change: Pick<ChangeItem, "op" | "candidate" | "prepared_for" | "emit_on_deploy">,
): Promise<"applied" | "stale"> {
  const replies = await platform.replies();
  const runId = newId("run", platform.clock());
  const { hookMs } = platform.config.sandbox;
  const waitsMs = Math.min(CHANGE_WAITS_MS, hookMs);
  const answer = replies.first(runId, waitsMs + 2 * hookMs);
  await enqueueRun(platform, sourceId, {
    kind: "change",
    run_id: runId,
    at_ms: platform.clock(),
    reply_to: replies.address,
    expires_at_ms: platform.clock() + waitsMs,
    ...change,
  });
  const reply = await answer;
  const error = reply?.type === "ended" ? reply.error : undefined;
  if (!reply || error?.code === "expired") {
    throw new AppError("unavailable", "no worker applied the change in time", { retryAfterMs: 5000 });
  }
  if (error?.code === "stale") return "stale";
  if (error) {
    const doing = change.op === "create" ? "deploying" : "updating";
    throw new AppError("invalid", `${doing} the source failed: ${error.message}`, {
      fields: [{ in: "component", path: "hooks", message: `${error.code}: ${error.message}` }],
    });
  }
  return "applied";
}
