import { Type } from "typebox";
import { watchEvents } from "../events/live.ts";
import { eventRow } from "../events/present.ts";
import { readSummaries } from "../events/read.ts";
import { EventIdSchema, EventRowSchema } from "../events/schema.ts";
import { eventPage, summaryQuery, summaryRoute } from "../events/summary-route.ts";
import { accepted, page, stream } from "../http/response.ts";
import { routeFor } from "../http/route.ts";
import { invalidField } from "../lib/errors.ts";
import { eventScore } from "../lib/event-id.ts";
import type { Platform } from "../platform.ts";
import { enqueue } from "../queues/define-queue.ts";
import { deletions } from "../queues/deletions.ts";
import { findSource } from "./find-source.ts";

type Deps = Pick<Platform, "mongo" | "eventLog" | "clock" | "queues" | "feed" | "keys">;
const route = routeFor<Deps>();
const tag = "Events";

const ownSource = {
  kind: "resource",
  what: "source",
  load: (deps: Pick<Platform, "mongo">, id: string, owners: string[]) => findSource(deps, id, owners),
} as const;

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

export const sourceEventRoutes = [
  summaryRoute({
    path: "/sources/{id}/event_summaries",
    id: "listSourceEvents",
    tag,
    summary: "Read the last events a source emitted",
    description: "Newest first, 100 at most are kept.",
    access: ownSource,
    example: { params, query: { expand: "event" }, response: emitted },
    stream: "emits",
  }),
  summaryRoute({
    path: "/sources/{id}/$errors/event_summaries",
    id: "listSourceErrors",
    tag,
    summary: "Read the last errors of a source",
    access: ownSource,
    example: { params, response: failed },
    stream: "errors",
  }),
  summaryRoute({
    path: "/sources/{id}/$logs/event_summaries",
    id: "listSourceLogs",
    tag,
    summary: "Read the last log lines of a source",
    access: ownSource,
    example: { params, response: logged },
    stream: "logs",
  }),
  route({
    method: "GET",
    path: "/sources/{id}/events",
    id: "listSourceEventRows",
    tag,
    summary: "Read the last events of a source as short rows",
    description: "The rows that clients of this kind of API read: id, event, channel and time.",
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
      return { ...found, rows: found.rows.map(eventRow) };
    },
  }),
  route({
    method: "GET",
    path: "/sources/{id}/sse",
    id: "watchSource",
    tag,
    summary: "Watch a source live",
    description:
      "Server-sent events of what the source emits (`emit`), its errors (`error`) and log lines (`log`), with a heartbeat each 15 s. `curl -N` shows it; `Last-Event-ID` resumes. A key may watch 20 streams at once.",
    access: ownSource,
    response: stream("text/event-stream"),
    example: { params },
    handler: ({ deps, resource, ctx, caller }) => {
      const lastEventId = ctx.get("last-event-id");
      if (lastEventId !== "" && eventScore(lastEventId) === null) {
        throw invalidField("header", "Last-Event-ID", "must be an event id");
      }
      // A router in front must not hold lines back.
      ctx.set("X-Accel-Buffering", "no");
      return watchEvents(deps, resource._id, {
        lastEventId: lastEventId === "" ? null : lastEventId,
        keyId: caller.keyId,
      });
    },
  }),
  route({
    method: "DELETE",
    path: "/sources/{id}/events",
    id: "deleteSourceEvents",
    tag,
    summary: "Delete a range of a source's stored events",
    description:
      "Both ends are inclusive; an absent end is open. The deletion is done by a worker after the response.",
    access: ownSource,
    query: Type.Object({ start_id: Type.Optional(EventIdSchema), end_id: Type.Optional(EventIdSchema) }),
    response: accepted(202),
    errors: ["unavailable"],
    example: { params, query: { start_id: "1700000000000-0", end_id: "1700000060000-0" } },
    handler: async ({ deps, resource, query: { start_id, end_id } }) => {
      if (start_id && end_id && (eventScore(start_id) ?? 0) > (eventScore(end_id) ?? 0)) {
        throw invalidField("query", "end_id", "must not come before start_id");
      }
      // An open end is now: events emitted while the deletion waits for its worker stay.
      const end = end_id ?? (await deps.eventLog.newestId(resource._id));
      if (end === null) return;
      await enqueue(deps.queues, deletions.jobs.deletions, {
        emitter_id: resource._id,
        ...(start_id && { start_id }),
        end_id: end,
      });
    },
  }),
];
