import { type Static, Type } from "typebox";
import { plainCursor } from "../http/pagination.ts";
import { page } from "../http/response.ts";
import { type Access, type PathParams, routeFor } from "../http/route.ts";
import type { Platform } from "../platform.ts";
import type { EventStream } from "../store/keys.ts";
import { readSummaries } from "./read.ts";
import { EVENT_ID, EventSummarySchema, ExpandSchema } from "./schema.ts";

type Deps = Pick<Platform, "mongo" | "eventLog" | "clock">;
const route = routeFor<Deps>();

/** All that is kept fits one page, so without `limit` it is answered whole (docs/decisions/0004). */
export const eventPage = { cursor: plainCursor(EVENT_ID), defaultLimit: 100 };

export const summaryQuery = Type.Object({ expand: ExpandSchema });

interface SummaryRoute<Path extends string> {
  path: Path;
  id: string;
  tag: string;
  summary: string;
  description?: string;
  access: Access<Deps, { _id: string }>;
  stream: EventStream;
  example?: { params?: PathParams<Path>; query?: Static<typeof summaryQuery>; response?: unknown };
}

/** A route that reads one stream of an emitter's event summaries (rest-api.md, sections 4.4 and 4.7). */
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
