import type { Schemas } from "../api/client";
import { Badge } from "../ui/basics";

/** Whether a webhook or a destination works. */
export function WebhookBadge({
  webhook,
}: {
  webhook: Pick<Schemas["Webhook"], "active" | "disabled_reason" | "failing_since">;
}) {
  if (!webhook.active) return <Badge tone={webhook.disabled_reason ? "bad" : "none"}>Disabled</Badge>;
  if (webhook.failing_since !== null) return <Badge tone="warn">Failing</Badge>;
  return <Badge tone="good">Active</Badge>;
}
