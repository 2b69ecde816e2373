import { cachedPlanOf, limitsOf } from "../accounts/limits.ts";
import { FIRST_QUOTA_PERCENT } from "../accounts/quota.ts";
import { usageToday } from "../accounts/usage.ts";
import type { Queued, Stores } from "../platform.ts";
import { readEmissionBytes } from "../store/limits/waiting-bytes.ts";
import { readWorkflowBacklog } from "../store/limits/workflow-backlog.ts";
import type { AttentionView } from "./schema.ts";

/** Returns what an account has used up, or nearly: of a day's quotas, and of what it may have waiting in queues now. */
export async function nearQuotas(
  platform: Stores & Queued,
  ownerId: string,
): Promise<AttentionView["quotas"]> {
  const [plan, limits, today, queuedBytes, emissionBytes, [workflowEvents]] = await Promise.all([
    cachedPlanOf(platform, ownerId),
    limitsOf(platform, ownerId),
    usageToday(platform, ownerId),
    platform.queued.read(ownerId),
    readEmissionBytes(platform, ownerId),
    readWorkflowBacklog(platform, ownerId),
  ]);
  const { dailyInvocations, dailyComputeMs } = platform.config.quotas;
  const ofFree = [
    { quota: "invocations", used: today.invocations, most: dailyInvocations },
    { quota: "compute", used: today.compute, most: dailyComputeMs },
  ];
  const ofAll = [
    { quota: "published_events", used: today.published, most: limits.publishedEvents },
    { quota: "queued_bytes", used: queuedBytes, most: limits.queuedBytes },
    { quota: "emission_bytes", used: emissionBytes, most: limits.emissionBytes },
    { quota: "workflow_events", used: workflowEvents, most: limits.workflowEvents },
  ];
  return (
    [...(plan === "free" ? ofFree : []), ...ofAll]
      // 0 means that there is none.
      .map(one => ({ ...one, percent: one.most > 0 ? Math.floor((one.used * 100) / one.most) : 0 }))
      .filter(({ percent }) => percent >= FIRST_QUOTA_PERCENT)
  );
}
