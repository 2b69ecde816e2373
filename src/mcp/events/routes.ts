import { shownOrg } from "../../accounts/access.ts";
import { accountListsFor } from "../../http/account-lists.ts";
import { data, empty, page, routeFor } from "../../http/route.ts";
import { unixSeconds } from "../../lib/time.ts";
import { isMcpListener, MCP_IDS, type McpListener, type Webhook, Webhooks } from "../../models/webhook.ts";
import type { Stores, Working } from "../../platform.ts";
import { presentLastTimes } from "../../store/last-times.ts";
import { countCacheOf, mapPage, pageOf } from "../../store/page.ts";
import { deleteWebhook } from "../../webhooks/webhooks.ts";
import { McpSubscriptionView } from "./schema.ts";

const route = routeFor<Working>();
const accountLists = accountListsFor<Working>();
const tag = "Agents";

/** Returns an agent's subscription as its account sees it: without its secret, and of its callback the host only. */
function present({ _id, mcp, url, owner_id, ...row }: McpListener): McpSubscriptionView {
  return {
    ...{ id: _id, user_id: row.user_id, ...shownOrg(owner_id), key_id: mcp.key_id },
    ...{ client_name: mcp.client_name ?? null, name: row.name ?? mcp.event_type },
    ...{ event_type: mcp.event_type, arguments: JSON.parse(mcp.arguments) },
    callback_host: new URL(url).host,
    ...{ active: row.active, disabled_reason: row.disabled_reason },
    failing_since: row.failing_since_ms === null ? null : unixSeconds(row.failing_since_ms),
    ...presentLastTimes(row),
    expires_at: unixSeconds(mcp.expires_at_ms),
    ...{ created_at: row.created_at, updated_at: row.updated_at },
  };
}

/** The access rule of routes whose path names an agent's subscription. */
const ownMcpSubscription = {
  kind: "resource",
  what: "mcp subscription",
  async load({ mongo }: Stores, id: string, owners: string[]): Promise<McpListener | null> {
    const found = await Webhooks(mongo)
      .findOne({ _id: id, owner_id: { $in: owners } })
      .lean<Webhook | null>();
    return found && isMcpListener(found) ? found : null;
  },
} as const;

const example: McpSubscriptionView = {
  id: "ms_0CjBAEdF3kWq9RtZ",
  user_id: "u_0CjB8sXp1LmN4vYb",
  key_id: "key_0CjB8sXp1LmN4vYb",
  client_name: "Claude Code",
  name: "agent Claude Code: source orders",
  event_type: "source.event",
  arguments: { source: "dc_0CjB9vRk2MnP5wXc", filter: { kind: "order" } },
  callback_host: "hooks.example.com",
  active: true,
  disabled_reason: null,
  failing_since: null,
  last_event_at: 1_700_000_000,
  last_success_at: 1_700_000_000,
  last_error_at: null,
  expires_at: 1_700_086_400,
  created_at: 1_700_000_000,
  updated_at: 1_700_000_000,
};
const params = { id: example.id };

/** Routes that show what agents have subscribed to over the Model Context Protocol, and end it (docs/agents.md#events). */
export const mcpSubscriptionRoutes = [
  ...accountLists({
    things: "mcp_subscriptions",
    tag,
    description:
      "What agents have subscribed to with `events/subscribe`, in the order of the ids. Of a callback the host is shown only.",
    response: page(200, McpSubscriptionView),
    example,
    async read({ deps, owner, page: request }) {
      const found = await pageOf(Webhooks(deps.mongo), { owner_id: owner, _id: MCP_IDS }, request, {
        countCache: countCacheOf(deps, owner, "mcp_subscriptions", {}),
      });
      return mapPage(found, row => present(row as McpListener));
    },
  }),
  route({
    method: "GET",
    path: "/mcp_subscriptions/{id}",
    id: "getMcpSubscription",
    tag,
    summary: "Get a subscription of an agent",
    description: "Of its callback the host is shown only.",
    access: ownMcpSubscription,
    response: data(200, McpSubscriptionView),
    example: { params, response: example },
    handler: async ({ resource }) => present(resource),
  }),
  route({
    method: "DELETE",
    path: "/mcp_subscriptions/{id}",
    id: "deleteMcpSubscription",
    audit: "mcp_subscription.deleted",
    tag,
    summary: "End a subscription of an agent",
    description: "Cancels its pending deliveries too. The agent is not told, and may subscribe again.",
    access: ownMcpSubscription,
    response: empty(204),
    example: { params },
    async handler({ deps, resource }) {
      await deleteWebhook(deps, resource);
    },
  }),
];
