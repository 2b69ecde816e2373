import { page } from "../http/response.ts";
import { routeFor } from "../http/route.ts";
import type { Platform } from "../platform.ts";
import { ownSource } from "../sources/routes.ts";
import { listRuns } from "./list.ts";
import { RunFilter, RunView } from "./schema.ts";

const route = routeFor<Pick<Platform, "mongo" | "redis" | "keys">>();

const example: RunView = {
  id: "run_0CjBAKw4Yz8MvQ2t",
  source_id: "dc_0CjB9uPc7RfT1xLs",
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
