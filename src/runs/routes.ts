import type { QueryFilter } from "mongoose";
import { data, page, routeFor } from "../http/route.ts";
import { type RunRecord, RunRecords } from "../models/run.ts";
import type { Source } from "../models/source.ts";
import type { Stores } from "../platform.ts";
import { ownSource } from "../sources/routes.ts";
import { mapPage, type Page, type PageRequest, pageOf } from "../store/page.ts";
import { presentRun } from "./present.ts";
import { ownRun, readRun } from "./read-run.ts";
import { RunDetail, RunFilter, RunView } from "./schema.ts";

const route = routeFor<Stores>();

const example: RunView = {
  id: "run_0CjBAKw4Yz8MvQ2t",
  source_id: "dc_0CjB9uPc7RfT1xLs",
  source_name: "hello",
  trigger: "http",
  outcome: "Error",
  error: { code: "Error", message: "the city is unknown" },
  started_at_ms: 1_700_000_000_120,
  duration_ms: 18.042,
  cpu_ms: 3.107,
  memory_bytes: 71_303_168,
  emitted: 2,
  dropped: { deduped: 1 },
  finished_at_ms: 1_700_000_000_140,
  trace_id: "4bf92f3577b34da6a3ce929d0e0e4736",
};

const failed: RunDetail = {
  ...example,
  queued_at_ms: 1_700_000_000_000,
  events: [
    {
      id: "1700000000139-0",
      indexed_at_ms: 1_700_000_000_139,
      event: { raw_event: { city: "Bern" } },
      metadata: { emit_id: `${example.id}-0`, name: "", emitter_id: example.source_id },
    },
  ],
  logs: [],
  error_event: {
    id: "1700000000140-0",
    indexed_at_ms: 1_700_000_000_140,
    event: {
      original_event: { method: "POST", path: "/", body: { cities: ["Bern", "Atlantis"] } },
      original_context: { id: example.id },
      error: { code: "Error", message: "the city is unknown", stack: "Error: …\n    at component.js:3:17" },
    },
    metadata: { emit_id: `${example.id}-error`, name: "$errors", emitter_id: example.source_id },
  },
  deliveries: [],
};

/** Routes that show the runs of a source, with their outcome and cost. */
export const runRoutes = [
  route({
    method: "GET",
    path: "/sources/{id}/runs",
    id: "listRuns",
    tag: "Sources",
    summary: "List a source's runs",
    description:
      "The runs of the last 7 days, newest first by the time of their trigger. A `total_count` above 10,000 " +
      "may be up to a minute old.",
    access: ownSource,
    query: RunFilter,
    response: page(200, RunView),
    example: { params: { id: example.source_id }, query: { outcome: "error" }, response: example },
    handler: ({ deps, resource, query, page }) => listRuns(deps, resource, query, page),
  }),
  route({
    method: "GET",
    path: "/runs/{id}",
    id: "getRun",
    tag: "Sources",
    summary: "Get a run",
    description:
      "With what it emitted, logged and threw, as far as it is kept, and with the deliveries of its events. Its error has what it " +
      "received; what a run received that succeeded is not stored. The `emit_id` of an event begins with the id of its run.",
    access: ownRun,
    response: data(200, RunDetail),
    example: { params: { id: failed.id }, response: failed },
    handler: ({ deps, resource, owners }) => readRun(deps, resource, owners),
  }),
];

/** Returns a page of a source's runs of the last 7 days, newest first; with `outcome: "error"` only failed runs. */
async function listRuns(
  platform: Stores,
  source: Pick<Source, "_id" | "name">,
  { outcome }: RunFilter,
  page: PageRequest,
): Promise<Page<RunView>> {
  const filter: QueryFilter<RunRecord> = {
    source_id: source._id,
    // Excludes further parts of an outbox by their id, which is in the index, so that counting runs reads no records.
    _id: { $not: /~/ },
    ...(outcome === "error" && { error: { $exists: true } }),
  };
  const list = outcome === undefined ? "runs" : `runs-${outcome}`;
  const found = await pageOf(RunRecords(platform.mongo), filter, page, {
    projection: { outbox: 0 },
    countCache: { redis: platform.redis, key: platform.keys.listCount(source._id, list) },
  });
  return mapPage(found, run => presentRun(run, source.name));
}
