import { type Static, Type } from "typebox";
import { ShownOrgId } from "../../accounts/access.ts";
import { OrNull, UnixMs } from "../../lib/schemas.ts";
import { ListenerId } from "../../subscriptions/schema.ts";

export const IssueStateSchema = Type.Union([
  Type.Literal("open"),
  Type.Literal("acknowledged"),
  Type.Literal("resolved"),
]);

/** The failures of one listener with one cause, as the API shows them (docs/rest-api.md#issues). */
export const IssueView = Type.Object(
  {
    id: Type.String({ description: "`iss_…`." }),
    org_id: ShownOrgId,
    listener_id: Type.String({ description: "The webhook or destination." }),
    listener_name: OrNull(Type.String(), "Its name; null without one."),
    listener_kind: Type.Union(
      [
        Type.Literal("webhook"),
        Type.Literal("destination"),
        Type.Literal("action"),
        Type.Literal("mcp_subscription"),
      ],
      { description: "What it is." },
    ),
    cause: Type.String({
      description:
        "`status:503` and the like; `timeout`, `connect`, `dns`, `tls`, `reset`, `protocol`, `blocked-address`; `rejected` " +
        "(by a destination); `function` (that of a subscription); `action:<code>`; `other` for those beyond 20 of a listener.",
    }),
    state: IssueStateSchema,
    first_seen_ms: UnixMs("The first failure of all."),
    last_seen_ms: UnixMs("The last failure."),
    opened_at_ms: UnixMs("The first failure since it was opened."),
    reopened: Type.Integer({ description: "How often a failure opened it again." }),
    count: Type.Integer({ description: "Attempts that failed." }),
    failed_deliveries: Type.Integer({
      description: "Deliveries that have failed with it: no attempt followed.",
    }),
    failed_since_opened: Type.Integer({ description: "Those of them since it was opened." }),
    last_error: Type.String({ description: "What the last failed attempt says, at most 1 KB." }),
    last_status: OrNull(Type.Integer(), "Its HTTP status; null if there was no response."),
    last_delivery_id: Type.String({ description: "Its delivery." }),
    acknowledged_at_ms: OrNull(
      Type.Integer(),
      "Unix milliseconds; null unless it is, or was when it was resolved.",
    ),
    acknowledged_by: OrNull(Type.String(), "The user."),
    resolved_at_ms: OrNull(Type.Integer(), "Unix milliseconds; null unless it is."),
    resolved_by: OrNull(Type.String(), "The user, or `quiet`: nothing of it was seen for 15 minutes."),
  },
  { title: "Issue" },
);
export type IssueView = Static<typeof IssueView>;

export const IssueFilter = Type.Object({
  state: Type.Optional(IssueStateSchema),
  listener_id: Type.Optional(ListenerId),
});
export type IssueFilter = Static<typeof IssueFilter>;

export const IssueChanges = Type.Object({ state: IssueStateSchema });

/** The issue of the API's examples. */
export const exampleIssue: IssueView = {
  id: "iss_0CjBAEdW7fLq2ZpN",
  listener_id: "wh_0CjBAEdF3kWq9RtZ",
  listener_name: "orders",
  listener_kind: "webhook",
  cause: "status:503",
  state: "open",
  first_seen_ms: 1_700_000_000_120,
  last_seen_ms: 1_700_000_600_000,
  opened_at_ms: 1_700_000_000_120,
  reopened: 0,
  count: 42,
  failed_deliveries: 3,
  failed_since_opened: 3,
  last_error: "HTTP status 503",
  last_status: 503,
  last_delivery_id: "dlv_0CjBBm3Xs6JpR9wF",
  acknowledged_at_ms: null,
  acknowledged_by: null,
  resolved_at_ms: null,
  resolved_by: null,
};
