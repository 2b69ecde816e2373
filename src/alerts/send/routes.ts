import { Type } from "typebox";
import { readSummaries } from "../../events/read.ts";
import { EventSummarySchema } from "../../events/schema.ts";
import { eventPage, summaryQuery } from "../../events/summary-route.ts";
import { data, page, routeFor } from "../../http/route.ts";
import type { Stores } from "../../platform.ts";
import { ALERTS } from "../raise.ts";
import { readAlertSettings, setAlertMail } from "./mailer.ts";

const route = routeFor<Stores>();
const tag = "Alerts";

const AlertMailSchema = Type.Union([Type.Literal("each"), Type.Literal("digest"), Type.Literal("off")], {
  description:
    "`digest`: at most one mail an hour, with all alerts since the last; `each`: a mail for each alert.",
});

const AlertSettingsSchema = Type.Object(
  {
    mail: AlertMailSchema,
    email: Type.String({ description: "Where mails go." }),
    is_mail_sent: Type.Boolean({ description: "False if this server sends no mail." }),
  },
  { title: "AlertSettings" },
);

const account = "u_0CjB8sXp1LmN4vYb";
const org_id = "o_0CjB8tYr3KpL7xVd";
const summaryOf = (account_id: string) => ({
  id: "1700000000000-0",
  indexed_at_ms: 1_700_000_000_000,
  event: {
    id: "al_0CjBBt8Xw3QvW4bL",
    type: "webhook.failing",
    account_id,
    subject: { id: "wh_0CjBAEdF3kWq9RtZ", name: "orders" },
    message:
      'every attempt to deliver to webhook "orders" (wh_0CjBAEdF3kWq9RtZ) has failed since 2023-11-14T22:10:20.000Z',
    details: { failing_since_ms: 1_699_999_820_000, will_be_disabled_at_ms: 1_700_431_820_000 },
    at_ms: 1_700_000_000_000,
  },
  metadata: { emit_id: "al_0CjBBt8Xw3QvW4bL", name: ALERTS, emitter_id: account_id },
});
const settings = { mail: "digest", email: "anna@example.com", is_mail_sent: true } as const;
const description =
  "Newest first; the last 100 are kept. To receive them, subscribe a listener to the account's id with the " +
  "`event_name` `$alerts`.";

/** What an account's people should know of (docs/alerts.md). */
export const alertRoutes = [
  route({
    method: "GET",
    path: "/users/me/$alerts/event_summaries",
    id: "listMyAlerts",
    tag,
    summary: "List your last alerts",
    description,
    access: { kind: "caller" },
    query: summaryQuery,
    response: page(200, EventSummarySchema, eventPage),
    example: { response: summaryOf(account) },
    handler: ({ deps, caller, page, query }) =>
      readSummaries(deps, caller.userId, "emits", { ...page, expand: query.expand === "event" }),
  }),
  route({
    method: "GET",
    path: "/orgs/{org_id}/$alerts/event_summaries",
    id: "listOrganizationAlerts",
    tag,
    summary: "List an organization's last alerts",
    description,
    access: { kind: "member" },
    query: summaryQuery,
    response: page(200, EventSummarySchema, eventPage),
    example: { params: { org_id }, response: summaryOf(org_id) },
    handler: ({ deps, owner, page, query }) =>
      readSummaries(deps, owner, "emits", { ...page, expand: query.expand === "event" }),
  }),
  route({
    method: "GET",
    path: "/users/me/alert_settings",
    id: "getAlertSettings",
    tag,
    summary: "Get how you are told of alerts",
    description: "Whether alerts are mailed to you.",
    access: { kind: "caller" },
    response: data(200, AlertSettingsSchema),
    example: { response: settings },
    handler: ({ deps, caller }) => readAlertSettings(deps, caller.userId),
  }),
  route({
    method: "PUT",
    path: "/users/me/alert_settings",
    id: "updateAlertSettings",
    audit: "user.alert_settings_updated",
    tag,
    summary: "Change how you are told of alerts",
    description: "Concerns the alerts of your account and of all your organizations.",
    access: { kind: "caller" },
    body: Type.Object({ mail: AlertMailSchema }),
    response: data(200, AlertSettingsSchema),
    example: { body: { mail: "each" }, response: { ...settings, mail: "each" } },
    handler: async ({ deps, caller, body, changes }) => {
      changes({ id: caller.userId });
      await setAlertMail(deps, caller.userId, body.mail);
      return await readAlertSettings(deps, caller.userId);
    },
  }),
];
