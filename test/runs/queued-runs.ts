import { newId } from "../../src/lib/ids.ts";
import { RunRecords } from "../../src/models/run.ts";
import { enqueueRuns } from "../../src/queues/runs.ts";
import type { Api, Summary } from "../support/api.ts";
import type { System } from "../support/system.ts";
import { until } from "../support/until.ts";

/** Settings of a system and of its workers, for components that request an address of this machine. */
export const ENV = {
  TIMEOUTS: "stalled:1s",
  SIZES_MB: "heap:64",
  FREE_LIMITS: "daily_invocations=5",
  SANDBOX_EGRESS_ALLOW: "127.0.0.0/8",
};

/** Returns a component with this body of `run`, and with `more` fields. */
export const code = (run: string, more = "") =>
  `export default { name: "Worked", version: "0.0.1", props: { http: "$.interface.http", db: "$.service.db" }, ${more}
    async run(event) { ${run} } };`;

/** Counts its runs in the db and emits the count; requests `event.url` first, if given. */
export const COUNTING = code(`
  if (event.url) await fetch(event.url + "/" + event.n);
  const count = (this.db.get("count") ?? 0) + 1;
  this.db.set("count", count);
  this.$emit({ n: event.n, count });`);

export interface RunSource {
  id: string;
  api: Api & { userId: string };
}

/** Returns `length` events with their numbers. */
export const numbered = (length: number, more: Record<string, unknown> = {}) =>
  Array.from({ length }, (_, n) => ({ n, ...more }));

/** What the code emitted in these events. */
export const raw = (events: Summary[]) => events.map(({ event }) => event.raw_event);

/** Fills the run queues of sources, and reads what came of it. `systemOf` returns what a `before` has started. */
export function queuedRuns(systemOf: () => System) {
  return {
    async newSource(component_code: string, plan: "free" | "paid" = "paid"): Promise<RunSource> {
      const api = await systemOf().user({ plan });
      const { id } = await api.createSource({ component_code });
      return { id, api };
    },

    /** Adds runs to the run queue, all at once; returns their ids. */
    async enqueue(sourceId: string, events: Record<string, unknown>[]): Promise<string[]> {
      const items = events.map(event => ({
        kind: "http" as const,
        run_id: newId("run"),
        at_ms: Date.now(),
        event,
      }));
      await enqueueRuns(systemOf().web, sourceId, items);
      return items.map(item => item.run_id);
    },

    recordsOf: (sourceId: string, runIds: string[]) =>
      until(
        async () => {
          const found = await RunRecords(systemOf().web.mongo).find({ source_id: sourceId }).lean();
          const byId = new Map(found.map(record => [record._id, record]));
          return found.length >= runIds.length && runIds.flatMap(id => byId.get(id) ?? []);
        },
        { what: "the records of all runs" },
      ),

    /** Returns all events of a stream, oldest first. */
    async eventsOf({ id, api }: RunSource, count: number, stream?: string): Promise<Summary[]> {
      const options = { ...(stream && { stream }), query: { limit: 100 } };
      const found = await until(
        async () => {
          const rows = await api.summaries(id, options);
          return rows.length >= count && rows;
        },
        { what: `${count} events` },
      );
      return found.reverse();
    },
  };
}
