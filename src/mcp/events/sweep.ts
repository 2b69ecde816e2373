import { recordOwnAction } from "../../audit/record.ts";
import { agentAccess } from "../../deliveries/attempt/agent-access.ts";
import { callbackRequest } from "../../deliveries/attempt/callback.ts";
import { newToken } from "../../lib/ids.ts";
import { MCP_IDS, type McpListener, Webhooks } from "../../models/webhook.ts";
import type { Outbound, Working } from "../../platform.ts";
import { repairEach } from "../../store/sweeps/repair-each.ts";
import type { SweepBatch, SweepBounds } from "../../store/sweeps/sweep-turns.ts";
import { openSigningKeys } from "../../webhooks/signing-keys.ts";
import { deleteWebhook } from "../../webhooks/webhooks.ts";
import { CODES } from "../protocol.ts";

const BATCH = 200;
/** Nothing is sent after the end in any case: this is when it is cleared away, and when an agent is told. */
export const MCP_BOUNDS: SweepBounds = { batches: 10, everyMs: 0 };
const TOLD_MS = 5000;

/**
 * Ends agents' subscriptions that were not refreshed in time, and those that have lost what they rest on (`agentAccess`): the
 * callbacks of these are told once, as well as it goes.
 */
export function beginMcpSweep(platform: Working & Outbound): SweepBatch {
  return async cursor => {
    const found = await Webhooks(platform.mongo)
      .find({ _id: { ...MCP_IDS, $gt: cursor ?? MCP_IDS.$gt } })
      .sort({ _id: 1 })
      .limit(BATCH)
      .lean<McpListener[]>();
    const access = await agentAccess(platform, found);
    const nowMs = platform.clock();
    const hasExpired = ({ mcp }: McpListener) => mcp.expires_at_ms <= nowMs;
    const ending = found.filter(one => hasExpired(one) || access.hasLost(one._id));
    const repaired = await repairEach(platform, ending, {
      step: "mcp_subscriptions",
      idOf: ({ _id }) => _id,
      repair: one => (hasExpired(one) ? deleteIfStill(platform, one) : endForbidden(platform, one)),
    });
    return { repaired, next: found.length < BATCH ? null : (found.at(-1)?._id ?? null) };
  };
}

/** Unless it was refreshed in between, perhaps with another key. */
const deleteIfStill = (platform: Working, listener: McpListener): Promise<boolean> =>
  deleteWebhook(platform, listener, {
    "mcp.expires_at_ms": listener.mcp.expires_at_ms,
    "mcp.key_id": listener.mcp.key_id,
  } as object);

async function endForbidden(platform: Working & Outbound, listener: McpListener): Promise<boolean> {
  if (!(await deleteIfStill(platform, listener))) return false;
  const { _id: id, name, owner_id: ownerId } = listener;
  await recordOwnAction(platform, {
    ...{ ownerId, action: "mcp_subscription.ended", thing: { id, name } },
    reason: "its API key was revoked or expired, or its user lost access",
  });
  // Not awaited: a callback that does not respond must not hold up the sweep.
  tellEnd(platform, listener).catch(() => undefined);
  return true;
}

/** Says to a callback that nothing more comes. */
async function tellEnd(platform: Working & Outbound, listener: McpListener): Promise<void> {
  const error = { code: CODES.forbidden, message: "access was revoked", data: { reason: "access_revoked" } };
  const message = {
    id: `msg_terminated_${newToken()}`,
    body: JSON.stringify({ type: "terminated", error }),
  };
  const atMs = platform.clock();
  const keys = openSigningKeys(platform.secrets, listener.signing_keys, atMs);
  await platform.egress.request(listener.url, {
    method: "POST",
    ...callbackRequest(platform.config, listener, message, { keys, atMs }),
    timeoutMs: TOLD_MS,
    maxResponseBytes: 0,
  });
}
