/** Operations that the client has no methods of its own for, by the names that screens know them by. */
import { type CallOptions, type Cursor, headwater, type Schemas } from "./client";
import { callsOf } from "./listeners";
import { inAccount } from "./session";

export const startSession = (body: { api_key: string } | { link: string }) =>
  headwater.request("post", "/sessions", { body: body as never });
export const readSignInOptions = () => headwater.request("get", "/sign_in_options", {});
export const beginOpenIdSignIn = (returnTo: string) =>
  headwater.request("post", "/openid_sign_ins", { body: { return_to: returnTo } });
export const listSessions = (query: Cursor, call: CallOptions) =>
  headwater.request("get", "/sessions", { query }, call);
export const endSession = (id: string) => headwater.request("delete", "/sessions/{id}", { params: { id } });

export const readAgentConsent = (request: string, call: CallOptions) =>
  headwater.request("get", "/agent_consents", { query: { request } }, call);
export const decideAgentConsent = (body: { request: string; allow: boolean; access?: "read" | "full" }) =>
  headwater.request("post", "/agent_consents", { body });

export const replayEvent = (id: string, emitterId: string, listenerId?: string) =>
  headwater.request("post", "/events/{id}/replay", {
    params: { id },
    query: { emitter_id: emitterId },
    body: listenerId ? { listener_id: listenerId } : {},
  });

/** `of`: a webhook's, a destination's or a source's id; the whole account without one. */
export const readStats = (of: string, query: { hours: number }, call: CallOptions) => {
  if (/^(wh|ds|ac)_/.test(of)) return callsOf(of).stats(of, query, call);
  if (of !== "") return headwater.sources.stats(of, query, call);
  return inAccount().request("get", "/stats", { query }, call);
};

export type Hour = Schemas["Stats"]["total"];

/** What happened to each of some webhooks in the last 24 hours, by its id. `ids` are separated by commas. */
export const readWebhookTotals = async (ids: string, call: CallOptions) => {
  const { data } = await headwater.request("get", "/webhook_stats", { query: { webhook_ids: ids } }, call);
  return data.map(one => [one.webhook_id, one] as const);
};

/** Of the user, or of an organization. */
export const readDailyUsage = async (org: string | null, call: CallOptions) => {
  const { days } = org
    ? await headwater.request("get", "/orgs/{org_id}/daily_usage", { params: { org_id: org } }, call)
    : await headwater.request("get", "/users/me/daily_usage", {}, call);
  return days;
};

export type DayOfUsage = Awaited<ReturnType<typeof readDailyUsage>>[number];
export type Replay = Schemas["Replay"];

export const listReplays = (query: Cursor, call: CallOptions) =>
  inAccount().request("get", "/replays", { query }, call);
export const startReplay = (body: Record<string, unknown>, call?: CallOptions) =>
  inAccount().request("post", "/replays", { body: body as never }, call);
export const readReplay = (id: string) => headwater.request("get", "/replays/{id}", { params: { id } });
export const stopReplay = (id: string) => headwater.request("delete", "/replays/{id}", { params: { id } });

const MOST = { limit: 100 };

/** Those of the user, or of an organization; the newest. */
export const listAutoSubscriptions = (org: string | null, call: CallOptions) =>
  org
    ? headwater.request(
        "get",
        "/orgs/{org_id}/auto_subscriptions",
        { params: { org_id: org }, query: MOST },
        call,
      )
    : headwater.request("get", "/users/me/auto_subscriptions", { query: MOST }, call);
export const createAutoSubscription = (query: { event_name: "$errors" | "$logs"; listener_id: string }) =>
  inAccount().request("post", "/auto_subscriptions", { query });
export const deleteAutoSubscription = (id: string) =>
  headwater.request("delete", "/auto_subscriptions/{id}", { params: { id } });
