import { type Static, Type } from "typebox";
import { plainCursor } from "../http/common-parameters.ts";
import { type Access, type PathParams, page, routeFor } from "../http/route.ts";
import type { Stores } from "../platform.ts";
import type { EventStream } from "../store/keys.ts";
import { readSummaries } from "./read.ts";
import { EVENT_ID, EventSummarySchema, ExpandSchema } from "./schema.ts";

const route = routeFor<Stores>();

/**
 * Without `limit`, a page contains every stored event: a stream keeps 100 of them
 * (docs/decisions/0004-summaries-in-redis-payloads-in-mongodb.md).
 */
export const eventPage = { cursor: plainCursor(EVENT_ID), defaultLimit: 100 };

export const summaryQuery = Type.Object({ expand: ExpandSchema });

interface SummaryRoute<Path extends string> {
  path: Path;
  id: string;
  tag: string;
  summary: string;
  description?: string;
  access: Access<Stores, { _id: string }>;
  stream: EventStream;
  example?: { params?: PathParams<Path>; query?: Static<typeof summaryQuery>; response?: unknown };
}

/**
 * Returns a route that lists one stream of an emitter's events (docs/rest-api.md#source-events and
 * docs/rest-api.md#workflows).
 */
export function summaryRoute<const Path extends string>({ stream, ...spec }: SummaryRoute<Path>) {
  return route({
    method: "GET",
    ...spec,
    query: summaryQuery,
    response: page(200, EventSummarySchema, eventPage),
    handler: ({ deps, resource, page, query }) =>
      readSummaries(deps, resource._id, stream, { ...page, expand: query.expand === "event" }),
  });
}
