import type { QueryFilter } from "mongoose";
import { page, routeFor } from "../http/route.ts";
import { type RunRecord, RunRecords } from "../models/run.ts";
import type { Source } from "../models/source.ts";
import type { Stores } from "../platform.ts";
import { ownSource } from "../sources/routes.ts";
import { mapPage, type Page, type PageRequest, pageOf } from "../store/page.ts";
import { traceIdOf } from "../tracing/trace-context.ts";
import { RunFilter, RunView } from "./schema.ts";

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

/** Rounds milliseconds to microseconds, the precision of the measurement. */
const rounded = (ms: number) => Math.round(ms * 1000) / 1000;

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
];

/** Returns a run as its owner sees it. Live views have no names. */
export function presentRun(record: RunRecord, sourceName?: string): RunView {
  // Every process uses memory, so 0 means that the system does not report it.
  const isMetered = Boolean(record.memory_bytes);
  return {
    id: record._id,
    source_id: record.source_id,
    ...(sourceName !== undefined && { source_name: sourceName }),
    trigger: record.kind,
    outcome: record.outcome,
    error: record.error ?? null,
    started_at_ms: record.started_at_ms ?? null,
    duration_ms: rounded(record.duration_ms),
    cpu_ms: isMetered ? rounded(record.cpu_ms ?? 0) : null,
    memory_bytes: isMetered ? (record.memory_bytes ?? null) : null,
    emitted: record.emitted,
    dropped: record.dropped,
    finished_at_ms: record.finished_at.getTime(),
    trace_id: record.trace === undefined ? null : traceIdOf(record.trace),
  };
}

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
