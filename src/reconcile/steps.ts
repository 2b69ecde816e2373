import { beginAlertSweep } from "../alerts/send/sweep.ts";
import { beginDeliverySweep } from "../deliveries/sweep.ts";
import { beginDispatchSweep } from "../deliveries/sweep-dispatches.ts";
import { beginRecoverySweep, beginReplaySweep } from "../deliveries/sweep-long.ts";
import type { Platform } from "../platform.ts";
import { beginOutboxSweep } from "../runs/outbox.ts";
import { beginSettledSweep } from "../runs/sweep-settled.ts";
import type { SweepBounds, SweepStep } from "../store/sweep-turns.ts";
import { beginAcceptedSweep } from "./accepted.ts";
import { beginChangeSweep } from "./changes.ts";
import { beginFailoverSweep } from "./failovers.ts";
import { beginFunctionSweep, FUNCTIONS_BOUNDS } from "./functions.ts";
import { beginRunQueueSweep, RUN_QUEUES_BOUNDS } from "./run-queues.ts";
import { beginSilentEmitterSweep, SILENT_EMITTERS_BOUNDS } from "./silent-emitters.ts";
import { beginDeletionSweep, beginDeploymentSweep } from "./sources.ts";
import { beginSchedulerSweep, beginTimerSweep, TIMERS_BOUNDS } from "./timers.ts";

/** Work younger than this is being handled and not lost. Milliseconds. */
const GRACE_MS = 15_000;

export const STEP_NAMES = [
  "run_queues",
  "outboxes",
  "settled",
  "dispatches",
  "deliveries",
  "timers",
  "schedulers",
  "deleting",
  "deploying",
  "changes",
  "replays",
  "recoveries",
  "accepted",
  "silent_emitters",
  "failovers",
  "functions",
  "alerts",
] as const;
export type StepName = (typeof STEP_NAMES)[number];

/** Everything the reconciler looks for. The steps depend on nothing of each other and run side by side. */
export function sweepSteps(platform: Platform): SweepStep[] {
  const graceMs = Math.min(GRACE_MS, platform.config.sweepEveryMs);
  const begin: Record<StepName, SweepStep["begin"]> = {
    run_queues: () => beginRunQueueSweep(platform, graceMs),
    outboxes: () => beginOutboxSweep(platform, graceMs),
    settled: () => beginSettledSweep(platform, graceMs),
    dispatches: () => beginDispatchSweep(platform),
    deliveries: () => beginDeliverySweep(platform),
    timers: () => beginTimerSweep(platform),
    schedulers: () => beginSchedulerSweep(platform),
    deleting: () => beginDeletionSweep(platform, graceMs),
    deploying: () => beginDeploymentSweep(platform),
    changes: () => beginChangeSweep(platform),
    replays: () => beginReplaySweep(platform, graceMs),
    recoveries: () => beginRecoverySweep(platform, graceMs),
    accepted: () => beginAcceptedSweep(platform),
    silent_emitters: () => beginSilentEmitterSweep(platform),
    failovers: () => beginFailoverSweep(platform),
    functions: () => beginFunctionSweep(platform),
    alerts: () => beginAlertSweep(platform),
  };
  const bounds: Partial<Record<StepName, SweepBounds>> = {
    run_queues: RUN_QUEUES_BOUNDS,
    timers: TIMERS_BOUNDS,
    schedulers: TIMERS_BOUNDS,
    silent_emitters: SILENT_EMITTERS_BOUNDS,
    functions: FUNCTIONS_BOUNDS,
  };
  return STEP_NAMES.map(name => ({
    name,
    begin: begin[name],
    ...(bounds[name] && { bounds: bounds[name] }),
  }));
}
