import { Type } from "typebox";
import { type AccessLost, accessLost } from "../accounts/access.ts";
import { watchEvents } from "../events/live.ts";
import { findOwnEmitter, publishRoute } from "../events/publish/publish-route.ts";
import { eventRow, readSummaries, type SummaryPage } from "../events/read.ts";
import { EventIdSchema, EventRowSchema } from "../events/schema.ts";
import { eventPage, summaryQuery, summaryRoute } from "../events/summary-route.ts";
import { accepted, page, routeFor, stream } from "../http/route.ts";
import { invalidField } from "../lib/errors.ts";
import { eventScore, isId } from "../lib/ids.ts";
import type { Source } from "../models/source.ts";
import type { Awaited, Queued, Stores } from "../platform.ts";
import { enqueue } from "../queues/define-queue.ts";
import { deletions } from "../queues/deletions.ts";
import type { Emitter } from "../subscriptions/match.ts";
import { ownSource, ownSourceToChange } from "./routes.ts";
import { findSource, findSourceToChange } from "./source.ts";

type Deps = Stores & Queued & Awaited;
const route = routeFor<Deps>();
const tag = "Events";

const params = { id: "dc_0CjB9uPc7RfT1xLs" };
const metadata = { emit_id: "emit_0CjBBp5Zu8LrT1yH", name: "", emitter_id: params.id };
const emitted = {
  id: "1700000000000-0",
  indexed_at_ms: 1_700_000_000_000,
  event: { raw_event: { hello: "world" } },
  metadata,
};
const failed = {
  ...emitted,
  event: {
    original_event: { method: "POST", path: "/", body: { hello: "world" } },
    original_context: { id: "run_0CjBBq6Av9MsU2zJ", ts: "2023-11-14T22:13:20.000Z", source_type: "http" },
    error: { code: "TypeError", cellId: params.id, ts: "2023-11-14T22:13:20.000Z", stack: "TypeError: …" },
  },
  metadata: { ...metadata, name: "$errors" },
};
const logged = {
  ...emitted,
  event: { level: "log", message: "hello", ts: "2023-11-14T22:13:20.000Z" },
  metadata: { ...metadata, name: "$logs" },
};

const STREAMED = `id: ${emitted.id}\nevent: emit\ndata: ${JSON.stringify(emitted)}\n\n`;

/** Returns the source with this id or name slug as an emitter; otherwise as `findSourceToChange`. */
async function findOwnSource(deps: Stores, idOrSlug: string, owners: string[]): Promise<Emitter | null> {
  if (isId("dc", idOrSlug)) return await findOwnEmitter(deps, idOrSlug, owners);
  const source = await findSourceToChange(deps, idOrSlug, owners);
  return source && { id: source._id, owner_id: source.owner_id };
}

/** Returns true if no older event follows the page. */
async function isLast(deps: Deps, sourceId: string, page: SummaryPage): Promise<boolean> {
  if (page.endCursor === null) return true;
  const { rows } = await deps.eventLog.page(sourceId, "emits", { limit: 1, after: page.endCursor });
  return rows.length === 0;
}

export const sourceEventRoutes = [
  summaryRoute({
    path: "/sources/{id}/event_summaries",
    id: "listSourceEvents",
    tag,
    summary: "List the last events that a source emitted",
    description: "Newest first; the last 100 are kept.",
    access: ownSource,
    example: { params, query: { expand: "event" }, response: emitted },
    stream: "emits",
  }),
  summaryRoute({
    path: "/sources/{id}/$errors/event_summaries",
    id: "listSourceErrors",
    tag,
    summary: "List the last errors of a source",
    description:
      "Up to the last 100, newest first; each with the event on which the component threw, and its stack.",
    access: ownSource,
    example: { params, response: failed },
    stream: "errors",
  }),
  summaryRoute({
    path: "/sources/{id}/$logs/event_summaries",
    id: "listSourceLogs",
    tag,
    summary: "List the last log lines of a source",
    description: "Up to the last 100 lines that the component wrote with `console`, newest first.",
    access: ownSource,
    example: { params, response: logged },
    stream: "logs",
  }),
  route({
    method: "GET",
    path: "/sources/{id}/events",
    id: "listSourceEventRows",
    tag,
    summary: "List the last events of a source with short field names",
    description:
      "The format that existing clients of this kind of API read: `e` event, `k` channel, `ts` time. " +
      "`end_cursor` is null on the last page, where those clients stop.",
    access: ownSource,
    query: summaryQuery,
    response: page(200, EventRowSchema, eventPage),
    example: {
      params,
      query: { expand: "event" },
      response: { id: emitted.id, e: { hello: "world" }, k: "emit", ts: emitted.indexed_at_ms, metadata },
    },
    handler: async ({ deps, resource, page, query }) => {
      const found = await readSummaries(deps, resource._id, "emits", {
        ...page,
        expand: query.expand === "event",
      });
      const endCursor = (await isLast(deps, resource._id, found)) ? null : found.endCursor;
      return { ...found, endCursor, rows: found.rows.map(eventRow) };
    },
  }),
  route({
    method: "GET",
    path: "/sources/{id}/sse",
    id: "watchSource",
    tag,
    summary: "Stream the events of a source live",
    description:
      "Server-sent events: `emit` for emitted events, `error` for errors and `log` for log lines, with a " +
      "heartbeat every 15 s, and `end` with the reason when the key was revoked, the membership ended or the " +
      "source was deleted. Try it with `curl -N`. `Last-Event-ID` resumes a stream. An account may have " +
      "as many streams open as its plan allows.",
    access: ownSource,
    response: stream("text/event-stream"),
    example: { params, response: STREAMED },
    handler: ({ deps, resource, ctx, caller }) => {
      const lastEventId = ctx.get("last-event-id");
      if (lastEventId !== "" && eventScore(lastEventId) === null) {
        throw invalidField("header", "Last-Event-ID", "must be an event id");
      }
      // A proxy in front must not buffer the stream.
      ctx.set("X-Accel-Buffering", "no");
      return watchEvents(deps, resource._id, {
        lastEventId: lastEventId === "" ? null : lastEventId,
        userId: caller.userId,
        whyEnded: () => whyStreamEnded(deps, caller.keyId, resource),
      });
    },
  }),
  publishRoute({
    path: "/sources/{id}/events",
    id: "publishSourceEvents",
    tag,
    summary: "Publish events as a source, without running its component",
    access: { ...ownSource, load: findOwnSource },
    example: { params, body: { event: { hello: "world" }, id: "order-17" } },
  }),
  route({
    method: "DELETE",
    path: "/sources/{id}/events",
    id: "deleteSourceEvents",
    audit: "source.events_deleted",
    tag,
    summary: "Delete a range of a source's stored events",
    description:
      "Both ends of the range are inclusive. Without `start_id`, it begins with the oldest event; without " +
      "`end_id`, it ends with the newest event at the time of the request. A worker deletes the events " +
      "after the response.",
    access: ownSourceToChange,
    query: Type.Object({ start_id: Type.Optional(EventIdSchema), end_id: Type.Optional(EventIdSchema) }),
    response: accepted(202),
    errors: ["unavailable"],
    example: { params, query: { start_id: "1700000000000-0", end_id: "1700000060000-0" } },
    handler: async ({ deps, resource, query: { start_id, end_id } }) => {
      if (start_id && end_id && (eventScore(start_id) ?? 0) > (eventScore(end_id) ?? 0)) {
        throw invalidField("query", "end_id", "must not come before start_id");
      }
      // Without `end_id`, the range ends now: an event that is emitted before the worker starts is not deleted.
      const end = end_id ?? (await deps.eventLog.newestId(resource._id));
      if (end === null) return;
      const job = { emitter_id: resource._id, ...(start_id && { start_id }), end_id: end };
      await deps.replicas.confirmed(() => enqueue(deps.queues, deletions.jobs.deletions, job));
    },
  }),
];

/**
 * Returns why an open stream of a source's events must end, as the same request would be rejected now; null if it may go
 * on (docs/design.md#guarantee-6).
 */
export async function whyStreamEnded(
  platform: Stores,
  keyId: string,
  { _id, owner_id }: Pick<Source, "_id" | "owner_id">,
): Promise<AccessLost | "source-deleted" | null> {
  const lost = await accessLost(platform, keyId, owner_id);
  if (lost !== null) return lost;
  return (await findSource(platform, _id, [owner_id])) === null ? "source-deleted" : null;
}
