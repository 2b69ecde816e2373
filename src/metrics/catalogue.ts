/**
 * Every metric that Headwater exposes, under `headwater_` and its name here. `docs/metrics.md` is generated from this list
 * (`npm run docs:metrics`). A new metric is one entry here and one `count` or `observe` call where it happens.
 *
 * Counters and histograms belong to the process that exposes them, so `sum()` over all processes is right. Gauges with
 * `scope: "installation"` describe what all processes share; every web process exposes the same value, so use `max()`.
 */

const QUICK = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60] as const;
const SLOW = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300, 3600] as const;

export interface CounterEntry {
  kind: "counter";
  help: string;
  labels: readonly string[];
}
export interface HistogramEntry {
  kind: "histogram";
  help: string;
  labels: readonly string[];
  /** Seconds. */
  buckets: readonly number[];
}
export interface GaugeEntry {
  kind: "gauge";
  help: string;
  labels: readonly string[];
  scope: "installation";
}

export const CATALOGUE = {
  http_request_duration_seconds: {
    kind: "histogram",
    help: "Time from a request to the end of its response, by route pattern",
    labels: ["method", "route", "status"],
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30],
  },
  replica_wait_seconds: {
    kind: "histogram",
    help: "Time until enough replicas of Redis held what was written (DURABLE_INGRESS), or did not in time: held or short",
    labels: ["outcome"],
    buckets: QUICK,
  },
  connections_rejected_total: {
    kind: "counter",
    help: "Connections that a web process closed because it had as many as it may have (docs/limits.md)",
    labels: [],
  },
  log_lines_dropped_total: {
    kind: "counter",
    help: "Lines of the log that were dropped because they could not be written: a full disk, or a reader that is gone or stopped",
    labels: [],
  },
  jobs_total: {
    kind: "counter",
    help: "Jobs that ended in this process: done, snoozed, retried, failed, newer (only a newer release knows them, so they wait), or the code of an expected error",
    labels: ["queue", "job", "outcome"],
  },
  jobs_given_up_total: {
    kind: "counter",
    help: "Jobs that failed for good: invalid, out of attempts, or crashing their workers",
    labels: ["queue"],
  },
  attempts_put_off_total: {
    kind: "counter",
    help: "Attempts that wait because the process, their account or its webhooks at one origin have too many in flight",
    labels: ["reason"],
  },
  jobs_requeued_total: {
    kind: "counter",
    help: "Jobs returned to their queue unstarted: it is another account's turn, or their account uses its share of the slots",
    labels: ["queue", "reason"],
  },
  job_duration_seconds: {
    kind: "histogram",
    help: "Time a job took in its handler",
    labels: ["queue", "job"],
    buckets: QUICK,
  },
  emissions_total: {
    kind: "counter",
    help: "Emissions that received an event id, by stream: emits, errors, logs",
    labels: ["stream"],
  },
  ingress_rejected_total: {
    kind: "counter",
    help: "Requests for sources that were not verified, by reason; those that were let through and only reported too",
    labels: ["reason"],
  },
  events_dropped_total: {
    kind: "counter",
    help: "Events dropped on purpose, by reason (docs/troubleshooting.md lists the reasons)",
    labels: ["reason"],
  },
  connection_renewals_total: {
    kind: "counter",
    help: "Renewals of connections' tokens: renewed, failed (tried again), ended (the owner must reconnect)",
    labels: ["outcome"],
  },
  runs_total: {
    kind: "counter",
    help: "Runs that ended: ok, error, Timeout, Out of Memory, Sandbox Lost, over-quota, crashed, unreadable",
    labels: ["outcome"],
  },
  run_duration_seconds: {
    kind: "histogram",
    help: "Time a component's `run` took in its sandbox, by trigger: http, timer, event",
    labels: ["trigger"],
    buckets: QUICK,
  },
  run_delay_seconds: {
    kind: "histogram",
    help: "Time from a trigger (request, due timer, event) to the start of its run",
    labels: ["trigger"],
    buckets: SLOW,
  },
  sandbox_wait_seconds: {
    kind: "histogram",
    help: "Time a call waited for a sandbox process, a cold start included",
    labels: [],
    buckets: QUICK,
  },
  sandbox_start_seconds: {
    kind: "histogram",
    help: "Time a cold start of a sandbox process took, until it accepted its first call",
    labels: [],
    buckets: QUICK,
  },
  function_calls_total: {
    kind: "counter",
    help: "Calls of the functions of subscriptions; one call is given many events",
    labels: [],
  },
  function_events_total: {
    kind: "counter",
    help: "Events that functions of subscriptions were given: event, dropped, failed, not-run (they come again)",
    labels: ["outcome"],
  },
  deliveries_total: {
    kind: "counter",
    help: "Attempts by what they meant for their delivery (delivered, retry, failed), and deliveries ended without one (failed, cancelled)",
    labels: ["outcome"],
  },
  delivery_duration_seconds: {
    kind: "histogram",
    help: "Time an endpoint took to respond to an attempt, by what the attempt meant",
    labels: ["outcome"],
    buckets: QUICK,
  },
  delivery_lateness_seconds: {
    kind: "histogram",
    help: "Time between the moment a later attempt was due and its start",
    labels: [],
    buckets: SLOW,
  },
  event_first_attempt_seconds: {
    kind: "histogram",
    help: "Time from an event's id to its first attempt at a webhook",
    labels: [],
    buckets: SLOW,
  },
  spans_total: {
    kind: "counter",
    help: "Spans of traces, by what became of them: exported, failed (the collector did not take them), dropped (too many waited)",
    labels: ["outcome"],
  },
  timers_late_total: {
    kind: "counter",
    help: "Timers that the reconciler found more than a minute late",
    labels: [],
  },
  reconciled_total: {
    kind: "counter",
    help: "What the reconciler repaired, by step; more than a little, steadily, means that something is wrong",
    labels: ["step"],
  },
  alerts_raised_total: {
    kind: "counter",
    help: "Alerts that were raised for accounts, by type (docs/alerts.md)",
    labels: ["type"],
  },
  alerts_suppressed_total: {
    kind: "counter",
    help: "Alerts that were not raised, because their account had as many that day as it may have (docs/limits.md)",
    labels: ["type"],
  },
  alert_mails_total: {
    kind: "counter",
    help: "Mails about alerts: sent, failed (and tried again), or given_up",
    labels: ["outcome"],
  },
  set_aside_items: {
    kind: "gauge",
    help: "Items that the reconciler failed to repair and tries again ever less often, by step; `headwater doctor` lists them",
    labels: ["step"],
    scope: "installation",
  },
  sweep_age_seconds: {
    kind: "gauge",
    help: "Time since a step of the reconciler was last at work, or the part of it that has waited for the longest; more than a few times SWEEP_EVERY means that it is stuck",
    labels: ["step"],
    scope: "installation",
  },
  queue_jobs: {
    kind: "gauge",
    help: "Jobs on a queue, by state",
    labels: ["queue", "state"],
    scope: "installation",
  },
  queue_oldest_waiting_seconds: {
    kind: "gauge",
    help: "Age of the job that has waited longest",
    labels: ["queue"],
    scope: "installation",
  },
  webhooks: {
    kind: "gauge",
    help: "Webhooks that are failing (every attempt since some moment failed) or that the platform disabled",
    labels: ["state"],
    scope: "installation",
  },
  deliveries_oldest_due_seconds: {
    kind: "gauge",
    help: "How long the most overdue pending delivery has been due; 0 if none is due",
    labels: [],
    scope: "installation",
  },
  redis_memory_used_ratio: {
    kind: "gauge",
    help: "Redis' memory in use, as a share of maxmemory, or of the machine's memory if that is not set",
    labels: [],
    scope: "installation",
  },
  redis_evicted_keys: {
    kind: "gauge",
    help: "Keys that Redis has evicted since it started; more than 0 means that work was lost",
    labels: [],
    scope: "installation",
  },
} as const satisfies Record<string, CounterEntry | HistogramEntry | GaugeEntry>;

type Catalogue = typeof CATALOGUE;
type NameOfKind<Kind> = {
  [Name in keyof Catalogue]: Catalogue[Name]["kind"] extends Kind ? Name : never;
}[keyof Catalogue];

export type CounterName = NameOfKind<"counter">;
export type HistogramName = NameOfKind<"histogram">;
export type GaugeName = NameOfKind<"gauge">;
/** The labels of a metric: each of them, and no others. */
export type LabelsOf<Name extends keyof Catalogue> = Record<Catalogue[Name]["labels"][number], string>;
