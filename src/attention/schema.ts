import { type Static, Type } from "typebox";
import { exampleIssue, IssueStateSchema, IssueView } from "../deliveries/issues/schema.ts";
import { OrNull, UnixMs } from "../lib/schemas.ts";
import { LIMITS } from "../limits/catalogue.ts";

const NameOrNull = OrNull(Type.String(), "Its name; null without one.");

const Cause = Type.Object({
  issue_id: Type.String(),
  cause: Type.String({ description: "As of an issue." }),
  state: IssueStateSchema,
  count: Type.Integer({ description: "Attempts that failed." }),
  last_seen_ms: UnixMs("The last of them."),
  last_error: Type.String(),
});

/** What is shown of a webhook, a destination or an agent's subscription, whether it fails or is disabled. */
const listener = {
  id: Type.String({ description: "A webhook, a destination or an agent's subscription." }),
  name: NameOrNull,
  causes: Type.Array(Cause, {
    description:
      "Its issues that are not resolved, the last seen first: errors by kind. Empty if none is known.",
  }),
};

const count = (description: string) => Type.Integer({ minimum: 0, description });

export const AttentionView = Type.Object(
  {
    needs: Type.Object(
      {
        total: count("All of the below but `failing`, each of which has an issue: for a badge."),
        disabled: count("Webhooks, destinations and agents' subscriptions that Headwater disabled."),
        issues: count("Open issues; acknowledged ones are known to somebody."),
        sources: count("Sources whose runs fail one after another."),
        connections: count("Connections that do not work."),
        quotas: count("Quotas of which 80 % or all is used."),
        failing: count(
          "Webhooks, destinations and agents' subscriptions to which every attempt fails, with an issue that is open or not.",
        ),
      },
      { description: `Counts by kind, up to ${LIMITS.attentionCounted.value}.` },
    ),
    disabled: Type.Array(
      Type.Object({
        ...listener,
        since_ms: OrNull(Type.Integer(), "Unix milliseconds; null if an earlier release disabled it."),
        reason: Type.String(),
      }),
    ),
    failing: Type.Array(
      Type.Object({
        ...listener,
        since_ms: UnixMs("The first failure since the last success."),
        will_be_disabled_at_ms: UnixMs("A failure after this disables it."),
      }),
    ),
    issues: Type.Array(IssueView, { description: "Open ones, the last seen first." }),
    sources: Type.Array(
      Type.Object({
        id: Type.String(),
        name: Type.String(),
        since_ms: UnixMs("The first of the runs that failed."),
        failed_runs: Type.Integer({ description: "How many failed when it was noted." }),
        code: OrNull(Type.String(), "The code of the last error that was noted; null if it is not known."),
      }),
    ),
    connections: Type.Array(
      Type.Object({
        id: Type.String(),
        name: Type.String(),
        app: Type.String(),
        health: Type.Union([Type.Literal("failing"), Type.Literal("broken")]),
        since_ms: OrNull(Type.Integer(), "When its renewal last failed, Unix milliseconds."),
        code: OrNull(Type.String(), "Why: the code of the app, or one of ours."),
        message: OrNull(Type.String(), "The same in words."),
      }),
    ),
    retries: Type.Object(
      {
        count: count("Deliveries that wait for a retry."),
        oldest: OrNull(
          Type.Object({
            delivery_id: Type.String(),
            listener_id: Type.String(),
            listener_name: NameOrNull,
            issue_id: Type.String(),
            since_ms: UnixMs("When it was created."),
            next_attempt_at_ms: OrNull(Type.Integer(), "Unix milliseconds."),
          }),
          "The one that was created first; null without any.",
        ),
      },
      { description: "Of all webhooks, destinations and agents' subscriptions." },
    ),
    quotas: Type.Array(
      Type.Object({
        quota: Type.String({
          description:
            "`invocations`, `compute` (milliseconds) and `published_events` of a day (UTC); of what waits now `queued_bytes`, " +
            "`emission_bytes` and `workflow_events`.",
        }),
        used: Type.Integer(),
        most: Type.Integer(),
        percent: Type.Integer({ description: "80 or more." }),
      }),
    ),
  },
  { title: "Attention" },
);
export type AttentionView = Static<typeof AttentionView>;

const exampleCause = {
  issue_id: exampleIssue.id,
  cause: exampleIssue.cause,
  state: exampleIssue.state,
  count: exampleIssue.count,
  last_seen_ms: exampleIssue.last_seen_ms,
  last_error: exampleIssue.last_error,
};

export const exampleAttention: AttentionView = {
  needs: { total: 2, disabled: 1, issues: 1, sources: 0, connections: 0, quotas: 0, failing: 1 },
  disabled: [
    {
      id: "ds_0CjBAEdF3kWq9RtZ",
      name: "archive",
      causes: [],
      since_ms: 1_699_999_000_000,
      reason: "every attempt has failed since 2023-11-09T21:56:40.000Z",
    },
  ],
  failing: [
    {
      id: exampleIssue.listener_id,
      name: exampleIssue.listener_name,
      causes: [exampleCause],
      since_ms: exampleIssue.first_seen_ms,
      will_be_disabled_at_ms: exampleIssue.first_seen_ms + 5 * 86_400_000,
    },
  ],
  issues: [exampleIssue],
  sources: [],
  connections: [],
  retries: {
    count: 17,
    oldest: {
      delivery_id: exampleIssue.last_delivery_id,
      listener_id: exampleIssue.listener_id,
      listener_name: exampleIssue.listener_name,
      issue_id: exampleIssue.id,
      since_ms: 1_700_000_000_000,
      next_attempt_at_ms: 1_700_000_900_000,
    },
  },
  quotas: [],
};
