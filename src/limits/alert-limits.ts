import { defineLimits } from "./limit.ts";

/** Bounds of alerts and of the mails about them. */
export const ALERT_LIMITS = defineLimits({
  alertsPerDay: {
    value: 200,
    unit: "per day",
    per: "account",
    what: "alerts that are raised",
    beyond: "no more are raised until midnight (UTC), which `alerts_suppressed_total` counts",
  },
  deliveryAlertsPerDay: {
    value: 100,
    unit: "per day",
    per: "account",
    what: "alerts after which no `delivery.failed` is raised, so that those leave room for all others",
    beyond: "no more of them are raised until midnight (UTC), which `alerts_suppressed_total` counts",
  },
  alertKept: {
    value: 30 * 86_400_000,
    unit: "ms",
    per: "account",
    what: "how long an alert is remembered, so that it is raised once",
    beyond: "it is deleted",
  },
  failedRunsToAlert: {
    value: 3,
    unit: "count",
    per: "source",
    what: "runs that fail one after another until `source.failing` is raised",
    beyond: "no other alert is raised until a run succeeds",
  },
  attentionRows: {
    value: 20,
    unit: "count",
    per: "request",
    what: "things of each kind that `GET /attention` shows, the newest; causes of each listener",
    beyond: "they are only counted",
  },
  attentionCounted: {
    value: 10_000,
    unit: "count",
    per: "request",
    what: "things of each kind that `GET /attention` counts",
    beyond: "the count stays there",
  },
  queuesShown: {
    value: 50,
    unit: "count",
    per: "request",
    what: "listeners that have waited longest, and sources with the longest queues, that `GET /queues` shows",
    beyond: "they are only counted",
  },
  alertsPerMail: {
    value: 50,
    unit: "count",
    per: "value",
    what: "alerts that a mail lists",
    beyond: "the mail says how many more there are",
  },
  mailsPerDay: {
    value: 50,
    unit: "per day",
    per: "account",
    what: "mails about alerts to one person",
    beyond: "the next one is sent on the next day (UTC), with all that came until then",
  },
});
