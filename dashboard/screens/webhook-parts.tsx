import { http, read, type Schemas } from "../api/client";
import { orgId } from "../api/session";
import { Badge } from "../ui/basics";

type Webhook = Schemas["Webhook"];

export function WebhookBadge({
  webhook,
}: {
  webhook: Pick<Webhook, "active" | "disabled_reason" | "failing_since">;
}) {
  if (!webhook.active) return <Badge tone={webhook.disabled_reason ? "bad" : "none"}>Disabled</Badge>;
  if (webhook.failing_since !== null) return <Badge tone="warn">Failing</Badge>;
  return <Badge tone="good">Active</Badge>;
}

export function listWebhooks(query: Record<string, unknown>, signal?: AbortSignal) {
  const org = orgId.value;
  const init = signal ? { signal } : {};
  return org
    ? read(http.GET("/orgs/{org_id}/webhooks", { params: { path: { org_id: org }, query }, ...init }))
    : read(http.GET("/users/me/webhooks", { params: { query }, ...init }));
}
