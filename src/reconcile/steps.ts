import { beginAlertSweep } from "../alerts/send/sweep.ts";
import { beginIssueSweep, ISSUES_BOUNDS } from "../deliveries/issues/sweep.ts";
import { beginDeliverySweep } from "../deliveries/sweep.ts";
import { beginDispatchSweep } from "../deliveries/sweep-dispatches.ts";
import { beginRecoverySweep, beginReplaySweep } from "../deliveries/sweep-long.ts";
import { beginMcpSweep, MCP_BOUNDS } from "../mcp/events/sweep.ts";
import type { Platform } from "../platform.ts";
import { beginOutboxSweep } from "../runs/outbox.ts";
import { beginSettledSweep } from "../runs/settle.ts";
import type { SweepBounds, SweepStep } from "../store/sweeps/sweep-turns.ts";
import { beginAcceptedSweep } from "./accepted.ts";
import { beginFailoverSweep } from "./failovers.ts";
import { beginFunctionSweep, FUNCTIONS_BOUNDS } from "./functions.ts";
import { countParts, STEP_NAMES, type StepName } from "./parts.ts";
import { beginRunQueueSweep, RUN_QUEUES_BOUNDS } from "./run-queues.ts";
import { beginSilentEmitterSweep, SILENT_EMITTERS_BOUNDS } from "./silent-emitters.ts";
import { beginChangeSweep, beginDeletionSweep, beginDeploymentSweep } from "./sources.ts";
import { beginSchedulerSweep, beginTimerSweep, TIMERS_BOUNDS } from "./timers.ts";

/** Work younger than this is being handled and not lost. Milliseconds. */
const GRACE_MS = 15_000;

/** Everything the reconciler looks for. The steps depend on nothing of each other and run side by side. */
export function sweepSteps(platform: Platform): SweepStep[] {
  const graceMs = Math.min(GRACE_MS, platform.config.sweepEveryMs);
  const begin: Record<StepName, SweepStep["begin"]> = {
    run_queues: part => beginRunQueueSweep(platform, graceMs, part),
    outboxes: () => beginOutboxSweep(platform, graceMs),
    settled: part => beginSettledSweep(platform, graceMs, part),
    dispatches: () => beginDispatchSweep(platform),
    deliveries: part => beginDeliverySweep(platform, part),
    timers: part => beginTimerSweep(platform, part),
    schedulers: part => beginSchedulerSweep(platform, part),
    deleting: () => beginDeletionSweep(platform, graceMs),
    deploying: () => beginDeploymentSweep(platform),
    changes: () => beginChangeSweep(platform),
    replays: () => beginReplaySweep(platform, graceMs),
    recoveries: () => beginRecoverySweep(platform, graceMs),
    accepted: () => beginAcceptedSweep(platform),
    silent_emitters: part => beginSilentEmitterSweep(platform, part),
    failovers: () => beginFailoverSweep(platform),
    functions: () => beginFunctionSweep(platform),
    alerts: () => beginAlertSweep(platform),
    issues: () => beginIssueSweep(platform),
    mcp_subscriptions: () => beginMcpSweep(platform),
  };
  const bounds: Partial<Record<StepName, SweepBounds>> = {
    run_queues: RUN_QUEUES_BOUNDS,
    timers: TIMERS_BOUNDS,
    schedulers: TIMERS_BOUNDS,
    silent_emitters: SILENT_EMITTERS_BOUNDS,
    functions: FUNCTIONS_BOUNDS,
    issues: ISSUES_BOUNDS,
    mcp_subscriptions: MCP_BOUNDS,
  };
  return STEP_NAMES.map(name => ({
    name,
    parts: () => countParts(platform, name),
    begin: begin[name],
    ...(bounds[name] && { bounds: bounds[name] }),
  }));
}
