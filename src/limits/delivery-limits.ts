import { defineLimits, KB } from "./limit.ts";

/** `DELIVERY_RETRY_SCHEDULE` by default: the waits between the attempts of a delivery. */
export const RETRY_SCHEDULE = "5s,5m,30m,2h,5h,10h,14h,20h,24h";

/** Bounds of deliveries to webhooks. */
export const DELIVERY_LIMITS = defineLimits({
  attempts: {
    value: RETRY_SCHEDULE.split(",").length + 1,
    unit: "count",
    per: "value",
    what: "attempts of a delivery by the retry schedule, over three days",
    beyond: "it is `failed` (`exhausted`); a manual retry restarts the schedule",
    setting: "DELIVERY_RETRY_SCHEDULE",
  },
  attemptMs: {
    value: 15_000,
    unit: "ms",
    per: "request",
    what: "time of one attempt, of which at most 10 s to connect",
    beyond: "the attempt has failed",
    setting: "TIMEOUTS",
  },
  actionWaitMs: {
    value: 60_000,
    unit: "ms",
    per: "request",
    what: "how long an action waits for a sandbox; then it has the time of a run, and not of an attempt",
    beyond: "the attempt is repeated later, and has not failed",
  },
  actionOutputBytes: {
    value: 4 * KB,
    unit: "bytes",
    per: "request",
    what: "summary, exports and return value of an action that are kept with an attempt, as JSON",
    beyond: "the rest is left out, and `truncated` is true",
  },
  actionLogBytes: {
    value: 4 * KB,
    unit: "bytes",
    per: "request",
    what: "last log lines of an action that are kept with an attempt",
    beyond: "the lines before them are left out",
  },
  permits: {
    value: 32,
    unit: "count",
    per: "webhook",
    what: "deliveries in flight to it, over all processes; one if it is failing",
    beyond: "they wait as pending deliveries that are due",
    setting: "CONCURRENCY",
  },
  deliveryKeptMs: {
    value: 30 * 86_400_000,
    unit: "ms",
    per: "value",
    what: "how long a delivery, and an event that webhooks listen to, is kept",
    beyond: "it is deleted",
  },
  urlCharacters: {
    value: 2048,
    unit: "characters",
    per: "value",
    what: "URL of a webhook, and of a component's code",
    beyond: "400 `invalid`",
  },
  issuesPerListener: {
    value: 20,
    unit: "count",
    per: "webhook",
    what: "kinds of errors that are told apart, each as an issue; an action's author may make up any number",
    beyond: "further ones are one issue, `other`",
  },
  issueKept: {
    value: 90 * 86_400_000,
    unit: "ms",
    per: "value",
    what: "how long an issue is kept after its last failure",
    beyond: "it is deleted",
  },
  issueQuietMs: {
    value: 15 * 60_000,
    unit: "ms",
    per: "value",
    what: "time without a failure after which an issue resolves itself, if its listener is active and does not fail",
    beyond: "it is `resolved`, by `quiet`; a further failure opens it again",
  },
  retryJobMs: {
    value: 120_000,
    unit: "ms",
    per: "value",
    what: "how far away the next attempt of a delivery may be to have a job in Redis",
    beyond: "its webhook is drained up to `SWEEP_EVERY` after it is due",
  },
  destinationConnections: {
    value: 512,
    unit: "count",
    per: "process",
    what: "lasting connections to destinations, one for each",
    beyond: "the one unused for longest is closed; if all are in use, the attempt waits",
  },
  destinationIdleMs: {
    value: 10_000,
    unit: "ms",
    per: "process",
    what: "how long a connection to a destination is kept without an attempt",
    beyond: "it is closed",
  },
  destinationReplyBytes: {
    value: 64 * KB,
    unit: "bytes",
    per: "request",
    what: "what a destination other than an HTTP endpoint sends between two attempts' commands",
    beyond: "the connection is closed, and the attempts on it have failed",
  },
  destinationSettingsBytes: {
    value: 64 * KB,
    unit: "bytes",
    per: "value",
    what: "settings of a destination, as JSON",
    beyond: "400 `invalid`",
  },
});
