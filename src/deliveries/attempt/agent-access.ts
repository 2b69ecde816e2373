import type { SubscriberAccess } from "../../accounts/access.ts";
import { stillValid } from "../../accounts/api-keys.ts";
import { Memberships, membershipId } from "../../models/organization.ts";
import { ApiKeys } from "../../models/user.ts";
import { isMcpListener, type McpListener, type Webhook } from "../../models/webhook.ts";
import type { Stores } from "../../platform.ts";

/** Which agents' subscriptions, of those that were asked for, have lost what they rest on. */
export interface AgentAccess {
  hasLost: (listenerId: string) => boolean;
  /** Returns what the owner of a subscription can access, without its listener if that is an agent's that has lost it. */
  narrow: (listenerId: string, access: SubscriberAccess) => SubscriberAccess;
}

const ALL: AgentAccess = { hasLost: () => false, narrow: (_, access) => access };

/**
 * Asks, at the moment before something is sent, whether agents' subscriptions still have what they rest on: their API key is
 * neither revoked nor expired, and its user may use what the account owns. One that has lost it gets nothing more, and a sweep
 * ends it (`src/mcp/events/sweep.ts`). Of webhooks and destinations nothing is asked. Throws `unavailable`.
 */
export async function agentAccess(platform: Stores, webhooks: Iterable<Webhook>): Promise<AgentAccess> {
  const listeners = [...webhooks].filter(isMcpListener);
  if (listeners.length === 0) return ALL;
  const [keys, memberships] = await Promise.all([
    findKeys(platform, listeners),
    findMemberships(platform, listeners),
  ]);
  const isAllowed = ({ mcp, user_id, owner_id }: McpListener) =>
    keys.has(mcp.key_id) && (user_id === owner_id || memberships.has(membershipId(owner_id, user_id)));
  const lost = new Set(listeners.filter(one => !isAllowed(one)).map(({ _id }) => _id));
  return {
    hasLost: id => lost.has(id),
    narrow: (id, access) => (lost.has(id) ? { ...access, canUseListener: false } : access),
  };
}

const membershipOf = ({ owner_id, user_id }: McpListener) => membershipId(owner_id, user_id);

async function findKeys(platform: Stores, listeners: McpListener[]): Promise<ReadonlySet<string>> {
  const ids = [...new Set(listeners.map(({ mcp }) => mcp.key_id))];
  const found = await ApiKeys(platform.mongo)
    .find({ _id: { $in: ids }, ...stillValid(platform) }, { _id: 1 })
    .lean();
  return new Set(found.map(({ _id }) => _id));
}

/** Those with which a user may change what the organization owns: a viewer may not have anything sent. */
async function findMemberships({ mongo }: Stores, listeners: McpListener[]): Promise<ReadonlySet<string>> {
  const ids = [...new Set(listeners.filter(one => one.user_id !== one.owner_id).map(membershipOf))];
  if (ids.length === 0) return new Set();
  const found = await Memberships(mongo)
    .find({ _id: { $in: ids }, role: { $ne: "viewer" } }, { _id: 1 })
    .lean();
  return new Set(found.map(({ _id }) => _id));
}
