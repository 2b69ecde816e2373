import type { PlanLimitName } from "../limits/plan-limits.ts";
import type { Platform } from "../platform.ts";
import { readEmissionBytes } from "../store/emission-bytes.ts";
import { readWorkflowBacklog } from "../store/workflow-backlog.ts";
import { countAll } from "./check-count.ts";
import type { LimitDeps } from "./limits.ts";
import { usageToday } from "./usage.ts";

/** Returns what an account has of the things that its plan bounds, as far as that is counted. */
export async function usageOf(
  platform: LimitDeps & Pick<Platform, "redis" | "keys" | "queued">,
  ownerId: string,
): Promise<Partial<Record<PlanLimitName, number>>> {
  const [counts, queuedBytes, emissionBytes, [workflowEvents, workflowEventBytes], today] = await Promise.all(
    [
      countAll(platform, ownerId),
      platform.queued.read(ownerId),
      readEmissionBytes(platform, ownerId),
      readWorkflowBacklog(platform, ownerId),
      usageToday(platform, ownerId),
    ],
  );
  const publishedEvents = today.published;
  return { ...counts, queuedBytes, emissionBytes, workflowEvents, workflowEventBytes, publishedEvents };
}
