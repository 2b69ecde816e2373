import { AppError } from "../lib/errors.ts";
import { newId } from "../lib/ids.ts";
import type { Component } from "../models/component.ts";
import type { Platform } from "../platform.ts";
import { enqueueRun } from "../queues/enqueue-run.ts";
import type { ChangeItem } from "../queues/run-item.ts";
import { isSandboxLost } from "../sandbox/host-error.ts";
import { withFrame } from "../sandbox/own-frame.ts";
import { ofAccount } from "../store/run-queue.ts";

export type ChangeDeps = Pick<Platform, "queues" | "runQueue" | "replies" | "clock" | "config">;

/** Error codes with which a worker rejects a change by itself; every other code is that of a hook's error. */
export const ChangeRejection = {
  /** The source is not the one that the change was prepared for. */
  stale: "stale",
  /** The request that asked for the change no longer waits for it. */
  expired: "expired",
} as const;

/** How long a change may wait for a worker before it expires; never longer than one of its hooks may take. */
const MAX_QUEUED_MS = 15_000;

/** True if the component has at least one of these hooks: then a worker must apply the change. */
export const hasHooks = (component: Component, ...hooks: Component["description"]["hooks"]): boolean =>
  component.description.hooks.some(hook => hooks.includes(hook));

/**
 * Puts a change into the source's run queue and waits until a worker has applied or rejected it. Returns `stale` if the
 * source is not the one that the change was prepared for. Throws `invalid` with the error of the hook that failed, and
 * `unavailable` if no worker started the change in time; the source is unchanged in both cases.
 */
export async function requestChange(
  platform: ChangeDeps,
  sourceId: string,
  change: { op: "create" | "update" } & Pick<ChangeItem, "candidate" | "prepared_for" | "emit_on_deploy">,
  ownerId: string,
): Promise<"applied" | "stale"> {
  const replies = await platform.replies();
  const runId = newId("run", platform.clock());
  const { hookMs } = platform.config.sandbox;
  const queuedMs = Math.min(MAX_QUEUED_MS, hookMs);
  const firstReply = replies.first(runId, queuedMs + 2 * hookMs);
  const item = {
    kind: "change" as const,
    run_id: runId,
    at_ms: platform.clock(),
    reply_to: replies.address,
    expires_at_ms: platform.clock() + queuedMs,
    ...change,
  };
  await enqueueRun(platform, sourceId, item, ofAccount(ownerId));
  const reply = await firstReply;
  const error = reply?.type === "ended" ? reply.error : undefined;
  if (!reply || error?.code === ChangeRejection.expired) {
    throw new AppError("unavailable", "no worker applied the change in time", { retryAfterMs: 5000 });
  }
  if (error?.code === ChangeRejection.stale) return "stale";
  if (isSandboxLost(error)) {
    throw new AppError("unavailable", "the sandbox of the hook was ended from outside", {
      retryAfterMs: 5000,
    });
  }
  if (error) {
    const doing = change.op === "create" ? "deploying" : "updating";
    const message = withFrame(error.message, error.stack ?? "");
    throw new AppError("invalid", `${doing} the source failed: ${message}`, {
      fields: [{ in: "component", path: "hooks", message: `${error.code}: ${message}` }],
    });
  }
  return "applied";
}
