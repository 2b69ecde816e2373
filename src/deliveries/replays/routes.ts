import { type Static, Type } from "typebox";
import { accepted, data, empty, page, routeFor } from "../../http/route.ts";
import { OrNull } from "../../lib/schemas.ts";
import type { Replay } from "../../models/replay.ts";
import type { Queued, Stores } from "../../platform.ts";
import { mapPage } from "../../store/page.ts";
import { DeliverySelector } from "../schema.ts";
import { countReplay, listReplays, ownReplay, startReplay, stopReplay } from "./replays.ts";

const route = routeFor<Stores & Queued>();
const tag = "Deliveries";

export const ReplayView = Type.Object(
  {
    id: OrNull(Type.String(), "`rpl_…`; null for a `dry_run`."),
    state: Type.Union(
      [
        Type.Literal("counted"),
        Type.Literal("running"),
        Type.Literal("done"),
        Type.Literal("stopped"),
        Type.Literal("failed"),
      ],
      {
        description: "`counted`: nothing was changed (`dry_run`). `failed`: its job failed again and again.",
      },
    ),
    count: Type.Integer({ description: "Deliveries that were selected when it was requested." }),
    count_is_exact: Type.Boolean({ description: "False: there are more, and they are replayed too." }),
    replayed: Type.Integer({ description: "Deliveries that are retried so far." }),
    skipped: Type.Integer({
      description:
        "Those that can't be: their event, subscription or webhook is gone, the webhook is disabled, or the " +
        "subscription's owner can't access the emitter or the webhook any more.",
    }),
    reason: OrNull(
      Type.String(),
      "Why it ended before its end; null if it did not, or if it was stopped by a request.",
    ),
    filter: DeliverySelector,
    created_at: OrNull(Type.Integer(), "Unix seconds."),
    finished_at_ms: OrNull(Type.Integer(), "Unix milliseconds."),
  },
  { title: "Replay" },
);
type ReplayView = Static<typeof ReplayView>;

/** Returns a replay as its account sees it. */
export const presentReplay = ({ _id, state, filter, ...replay }: Replay): ReplayView => ({
  id: _id,
  state,
  count: replay.count,
  count_is_exact: replay.count_is_exact,
  replayed: replay.replayed,
  skipped: replay.skipped,
  reason: replay.reason ?? null,
  filter,
  created_at: replay.created_at,
  finished_at_ms: replay.finished_at_ms,
});

export const exampleReplay: ReplayView = {
  id: "rpl_0CjBCw8Ut7KqZ4xM",
  state: "running",
  count: 12,
  count_is_exact: true,
  replayed: 0,
  skipped: 0,
  reason: null,
  filter: { state: "failed", since: 1_700_000_000 },
  created_at: 1_700_000_600,
  finished_at_ms: null,
};
const params = { id: "rpl_0CjBCw8Ut7KqZ4xM" };

/** Retry of all deliveries that a filter selects. */
export const replayRoutes = [
  route({
    method: "POST",
    path: "/replays",
    id: "startReplay",
    audit: "replay.started",
    tag,
    summary: "Retry every delivery that a filter selects",
    description:
      "The fields are those of `GET /deliveries`, but for `event_id` and `subscription_id`; without any, all deliveries of the last 30 days. A worker retries them " +
      "in batches, oldest first, each under the same `webhook-id` as before. With `dry_run` they are only counted, and " +
      "the status is 200.",
    access: { kind: "owner" },
    body: Type.Object({
      ...DeliverySelector.properties,
      dry_run: Type.Optional(Type.Boolean({ description: "True: count the deliveries and change nothing." })),
    }),
    response: accepted(202, ReplayView),
    alsoStatus: 200,
    errors: ["not-found", "conflict"],
    example: { body: { state: "failed", since: 1_700_000_000 }, response: exampleReplay },
    handler: async ({ deps, body: { dry_run, ...filter }, owner, owners, ctx, changes }) => {
      if (!dry_run) return presentReplay(await startReplay(deps, { owner, owners, where: "body" }, filter));
      ctx.status = 200;
      changes(null);
      const { count, isExact } = await countReplay(deps, { owner, owners, where: "body" }, filter);
      return {
        id: null,
        state: "counted" as const,
        count,
        count_is_exact: isExact,
        replayed: 0,
        skipped: 0,
        reason: null,
        filter,
        created_at: null,
        finished_at_ms: null,
      };
    },
  }),
  route({
    method: "GET",
    path: "/replays",
    id: "listReplays",
    tag,
    summary: "List your replays",
    description: "The newest first, with their progress.",
    access: { kind: "owner" },
    response: page(200, ReplayView),
    example: { response: exampleReplay },
    handler: async ({ deps, owner, page }) => mapPage(await listReplays(deps, owner, page), presentReplay),
  }),
  route({
    method: "GET",
    path: "/replays/{id}",
    id: "getReplay",
    tag,
    summary: "Get the progress of a replay",
    description: "How many deliveries it has found and sent so far, and whether it has ended.",
    access: ownReplay,
    response: data(200, ReplayView),
    example: { params, response: { ...exampleReplay, replayed: 12, state: "done" } },
    handler: async ({ resource }) => presentReplay(resource),
  }),
  route({
    method: "DELETE",
    path: "/replays/{id}",
    id: "stopReplay",
    audit: "replay.stopped",
    tag,
    summary: "Stop a replay",
    description: "What it has retried stays so.",
    access: ownReplay,
    response: empty(204),
    example: { params },
    handler: ({ deps, resource }) => stopReplay(deps, resource),
  }),
];
