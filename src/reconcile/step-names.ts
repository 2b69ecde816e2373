/** The steps of the reconciler, as metrics and items that are set aside name them. */
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
