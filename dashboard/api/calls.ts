import { http, read, readData, type Schemas } from "./client";

type Query = Record<string, string | number | boolean | undefined>;

/** Without what is not given: a parameter without a value is rejected. */
const given = (query: Query): Query =>
  Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined && value !== ""));

export type Session = Schemas["Session"];

export const startSession = (body: { api_key: string } | { link: string }) =>
  readData(http.POST("/sessions", { body: body as never }));
export const readSignInOptions = () => readData(http.GET("/sign_in_options", {}));
export const beginOpenIdSignIn = (returnTo: string) =>
  readData(http.POST("/openid_sign_ins", { body: { return_to: returnTo } }));
/** Ends this session; returns where the browser signs out with the OpenID provider too. */
export const signOut = async () => (await readData(http.POST("/openid_sign_outs", {}))).url;
export const listSessions = (query: Query, signal: AbortSignal) =>
  read(http.GET("/sessions", { params: { query: query as object }, signal }));
export const endSession = (id: string) => read(http.DELETE("/sessions/{id}", { params: { path: { id } } }));

export type ApiKey = Schemas["ApiKey"];

export const listKeys = (query: Query, signal: AbortSignal) =>
  read(http.GET("/api_keys", { params: { query: query as object }, signal }));
export const createKey = (name: string) => readData(http.POST("/api_keys", { body: name ? { name } : {} }));
export const revokeKey = (id: string) => read(http.DELETE("/api_keys/{id}", { params: { path: { id } } }));

export const listDeliveries = (query: Query, signal?: AbortSignal) =>
  read(http.GET("/deliveries", { params: { query: given(query) as object }, ...(signal && { signal }) }));

export type FilterTest = Schemas["FilterTest"];

export const testFilter = (body: {
  emitter_id: string;
  event_name?: string;
  filter: Record<string, unknown>;
}) => readData(http.POST("/subscriptions/filter_test", { body }));

export const replayEvent = (id: string, emitterId: string, listenerId?: string) =>
  readData(
    http.POST("/events/{id}/replay", {
      params: { path: { id }, query: { emitter_id: emitterId } },
      body: listenerId ? { listener_id: listenerId } : {},
    }),
  );

export type Described = Schemas["DescribedCode"];

export const describe = (component_code: string) =>
  readData(http.POST("/components/describe", { body: { component_code } }));

export type Tried = Schemas["TriedCode"];

export const tryRun = (body: {
  component_code: string;
  configured_props?: Record<string, unknown>;
  event?: unknown;
  sample_emit?: boolean;
}) => readData(http.POST("/components/try", { body }));

/** `of`: a webhook's or a source's id; the whole account without one. */
export const readStats = (of: string, query: Query, signal: AbortSignal): Promise<Stats> => {
  const params = { path: { id: of }, query: query as object };
  if (of.startsWith("wh_")) return readData(http.GET("/webhooks/{id}/stats", { params, signal }));
  if (of !== "") return readData(http.GET("/sources/{id}/stats", { params, signal }));
  return readData(http.GET("/stats", { params: { query: query as object }, signal }));
};

/** What happened to each of some webhooks in the last 24 hours, by its id. `ids` are separated by commas. */
export const readWebhookTotals = async (ids: string, signal: AbortSignal) => {
  const params = { query: { webhook_ids: ids } };
  const totals = await readData(http.GET("/webhook_stats", { params, signal }));
  return totals.map(one => [one.webhook_id, one] as const);
};

export type Stats = Schemas["Stats"];
export type Hour = Stats["total"];

/** Of the user, or of an organization. */
export const readDailyUsage = async (org: string | null, signal: AbortSignal) => {
  const { days } = org
    ? await readData(http.GET("/orgs/{org_id}/daily_usage", { params: { path: { org_id: org } }, signal }))
    : await readData(http.GET("/users/me/daily_usage", { signal }));
  return days;
};

export type DayOfUsage = Awaited<ReturnType<typeof readDailyUsage>>[number];
export type Replay = Schemas["Replay"];

export const startReplay = (body: Record<string, unknown>): Promise<Replay> =>
  readData(http.POST("/replays", { body: body as never }));
export const readReplay = (id: string): Promise<Replay> =>
  readData(http.GET("/replays/{id}", { params: { path: { id } } }));
export const stopReplay = (id: string) => read(http.DELETE("/replays/{id}", { params: { path: { id } } }));

export const listMembers = async (org: string, signal: AbortSignal) =>
  (await readData(http.GET("/orgs/{org_id}/members", { params: { path: { org_id: org } }, signal }))).members;
export const removeMember = (org: string, userId: string) =>
  read(
    http.DELETE("/orgs/{org_id}/members/{user_id}", { params: { path: { org_id: org, user_id: userId } } }),
  );

export type Member = Awaited<ReturnType<typeof listMembers>>[number];
export type Invitation = Schemas["Invitation"];

const MOST = { limit: 100 };

export const listInvitations = (org: string, signal: AbortSignal) =>
  read(http.GET("/orgs/{org_id}/invitations", { params: { path: { org_id: org }, query: MOST }, signal }));
export const invite = (org: string, email: string) =>
  readData(http.POST("/orgs/{org_id}/invitations", { params: { path: { org_id: org } }, body: { email } }));
export const withdrawInvitation = (org: string, id: string) =>
  read(http.DELETE("/orgs/{org_id}/invitations/{id}", { params: { path: { org_id: org, id } } }));
export const listMyInvitations = (signal: AbortSignal) =>
  read(http.GET("/users/me/invitations", { params: { query: MOST }, signal }));
export const acceptInvitation = (id: string) =>
  readData(http.POST("/users/me/invitations/{id}/accept", { params: { path: { id } }, body: {} }));
export const declineInvitation = (id: string) =>
  read(http.DELETE("/users/me/invitations/{id}", { params: { path: { id } } }));
