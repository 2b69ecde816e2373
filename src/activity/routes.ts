import { Type } from "typebox";
import { ownDestination } from "../destinations/destinations.ts";
import { MAX_LIMIT } from "../http/common-parameters.ts";
import { data, routeFor, stream } from "../http/route.ts";
import { invalidField } from "../lib/errors.ts";
import { eventScore } from "../lib/ids.ts";
import { LIMITS } from "../limits/catalogue.ts";
import { ownSource } from "../sources/routes.ts";
import { ownWebhook, requireWebhooks } from "../webhooks/find.ts";
import { type LiveDeps, watchLive } from "./live.ts";
import { LiveQuery, Stats, StatsQuery, WebhookIds, WebhookTotals } from "./schema.ts";
import { readStats, readTotals } from "./stats.ts";

const route = routeFor<LiveDeps>();
const tag = "Activity";

const DEFAULT_HOURS = 24;

const hour = {
  at: 1_700_000_000 - (1_700_000_000 % 3600),
  emitted: 12,
  runs: 10,
  run_errors: 1,
  attempts: 13,
  delivered: 11,
  failed: 0,
  cancelled: 0,
  retried: 2,
  dropped: { filtered: 1 },
  p50_ms: 41.3,
  p95_ms: 120.9,
};
const exampleStats: Stats = { hours: [hour], total: hour };
const description =
  "Counted as it happens, and up to some seconds behind; kept for 30 days. What a process that was killed counted in its " +
  "last seconds is missing.";

const STREAMED = 'event: ready\ndata: {"resumed":false}\n\n';

const webhook = "wh_0CjBAEdF3kWq9RtZ";
const emitter = "dc_0CjB9uPc7RfT1xLs";

export const activityRoutes = [
  route({
    method: "GET",
    path: "/stats",
    id: "getStats",
    tag,
    summary: "Get what happened in each of the last hours",
    description,
    access: { kind: "owner" },
    query: StatsQuery,
    response: data(200, Stats),
    example: { query: { hours: 1 }, response: exampleStats },
    handler: ({ deps, owner, query }) => readStats(deps, owner, query.hours ?? DEFAULT_HOURS),
  }),
  route({
    method: "GET",
    path: "/sources/{id}/stats",
    id: "getSourceStats",
    tag,
    summary: "Get what happened to a source's events in each of the last hours",
    description,
    access: ownSource,
    query: StatsQuery,
    response: data(200, Stats),
    example: { params: { id: emitter }, query: { hours: 1 }, response: exampleStats },
    handler: ({ deps, resource, query }) => readStats(deps, resource._id, query.hours ?? DEFAULT_HOURS),
  }),
  route({
    method: "GET",
    path: "/webhooks/{id}/stats",
    id: "getWebhookStats",
    tag,
    summary: "Get what happened to a webhook's deliveries in each of the last hours",
    description,
    access: ownWebhook,
    query: StatsQuery,
    response: data(200, Stats),
    example: { params: { id: webhook }, query: { hours: 1 }, response: exampleStats },
    handler: ({ deps, resource, query }) => readStats(deps, resource._id, query.hours ?? DEFAULT_HOURS),
  }),
  route({
    method: "GET",
    path: "/destinations/{id}/stats",
    id: "getDestinationStats",
    tag,
    summary: "Get what happened to a destination's deliveries in each of the last hours",
    description,
    access: ownDestination,
    query: StatsQuery,
    response: data(200, Stats),
    example: { params: { id: "ds_0CjBAEdF3kWq9RtZ" }, query: { hours: 1 }, response: exampleStats },
    handler: ({ deps, resource, query }) => readStats(deps, resource._id, query.hours ?? DEFAULT_HOURS),
  }),
  route({
    method: "GET",
    path: "/webhook_stats",
    id: "getWebhookTotals",
    tag,
    summary: "Get what happened to the deliveries of several webhooks in the last 24 hours",
    description: `${description} In the order of the ids.`,
    access: { kind: "owner" },
    query: WebhookIds,
    response: data(200, Type.Array(WebhookTotals)),
    errors: ["not-found"],
    example: { query: { webhook_ids: webhook }, response: [{ webhook_id: webhook, ...hour }] },
    handler: async ({ deps, owners, query }) => {
      const ids = [...new Set(query.webhook_ids.split(",").filter(Boolean))];
      if (ids.length > MAX_LIMIT)
        throw invalidField("query", "webhook_ids", `must be at most ${MAX_LIMIT} ids`);
      await requireWebhooks(deps, ids, owners);
      return [...(await readTotals(deps, ids))].map(([webhook_id, total]) => ({ webhook_id, ...total }));
    },
  }),
  route({
    method: "GET",
    path: "/live",
    id: "watchLive",
    tag,
    summary: "Stream events, deliveries and runs live",
    description:
      "One stream of server-sent events for a whole page: `emit`, `error` and `log` of the `emitters`; `delivery` and `run` " +
      "of the account when one is recorded or changes. `ready` comes first, and after each reconnection: then read what " +
      "the page lists. `skipped` counts what was too much to send. `Last-Event-ID` resumes the events, of which some may " +
      "come twice. A heartbeat comes every 15 s, and `end` with the reason when the key was revoked, or the session or the " +
      "membership ended. It counts as one open stream.",
    access: { kind: "owner" },
    query: LiveQuery,
    response: stream("text/event-stream"),
    errors: ["not-found", "rate-limited"],
    example: { query: { emitters: emitter, deliveries: true }, response: STREAMED },
    handler: async ({ deps, owner, owners, query, ctx, caller }) => {
      const emitterIds = (query.emitters ?? "").split(",").filter(Boolean);
      if (emitterIds.length > LIMITS.liveEmitters.value) {
        throw invalidField("query", "emitters", `must be at most ${LIMITS.liveEmitters.value} ids`);
      }
      const lastEventId = ctx.get("last-event-id");
      if (lastEventId !== "" && eventScore(lastEventId) === null) {
        throw invalidField("header", "Last-Event-ID", "must be an event id");
      }
      // A proxy in front must not buffer the stream.
      ctx.set("X-Accel-Buffering", "no");
      return await watchLive(deps, {
        emitterIds: [...new Set(emitterIds)],
        deliveries: query.deliveries ?? false,
        runs: query.runs ?? false,
        lastEventId: lastEventId === "" ? null : lastEventId,
        owner,
        owners,
        caller,
      });
    },
  }),
];
