import { headwater, type Schemas } from "../api/client";
import { ROWS, useFresh } from "../api/fresh";
import type { ReadPage } from "../api/paged";
import { useResource } from "../api/resource";
import { to, useFilters } from "../lib/address";
import { bytes, duration, words } from "../lib/format";
import { endpointOf } from "../lib/interfaces";
import { Time } from "../ui/basics";
import { Select } from "../ui/form";
import { List } from "../ui/list";
import { NothingYet } from "../ui/states";
import { firstEvent } from "./source-events";
import { RunOutcome } from "./source-parts";

type Detail = Schemas["SourceDetail"];

const SHOWN = 25;

/** The runs of a source that are still known. */
export function Runs({ source }: { source: Detail }) {
  const { id } = source;
  const url = endpointOf(source.configured_props);
  const filters = useFilters(["outcome"]);
  const { outcome, after, before } = filters.query;
  const isFailed = outcome === "error";
  const read: ReadPage<Schemas["Run"]> = (cursor, call) =>
    headwater.sources.runs(id, { ...cursor, outcome: isFailed ? "error" : undefined }, call);
  const resource = useResource(
    call => read({ limit: SHOWN, after, before }, call),
    [id, outcome, after, before],
  );
  useFresh(resource, { of: id, on: ["runs"], pace: ROWS, isOff: Boolean(after || before) });
  return (
    <section class="card">
      <div class="card-head">
        <h2>Runs of the last 7 days</h2>
        <Select
          label="Outcome"
          isBare
          value={outcome ?? ""}
          choices={[
            { value: "", label: "All outcomes" },
            { value: "error", label: "Failed only" },
          ]}
          onChange={chosen => filters.set({ outcome: chosen })}
        />
      </div>
      <List
        things="runs"
        resource={resource}
        read={read}
        filters={filters}
        empty={
          <NothingYet icon="clock" title="No runs yet" {...(url && { command: firstEvent(source) })}>
            A run starts with a tick of the timer, a request to the endpoint, or an event of an emitter that
            the source listens to{url ? ". This command starts one:" : "."}
          </NothingYet>
        }
        columns={[
          {
            head: "Run",
            cell: run => (
              <>
                <a class="title" href={to(`/runs/${run.id}`)}>
                  {words(run.trigger)}
                </a>
                <div class="sub">{run.id}</div>
              </>
            ),
          },
          {
            head: "Outcome",
            cell: run => (
              <>
                <RunOutcome {...run} />
                {run.error && <div class="sub">{run.error.message}</div>}
              </>
            ),
          },
          { head: "Emitted", isNumber: true, cell: run => run.emitted },
          { head: "Took", isNumber: true, cell: run => duration(run.duration_ms) },
          { head: "CPU", isNumber: true, cell: run => duration(run.cpu_ms) },
          {
            head: "Memory",
            isNumber: true,
            cell: run => (run.memory_bytes === null ? "–" : bytes(run.memory_bytes)),
          },
          { head: "Ended", cell: run => <Time ms={run.finished_at_ms} /> },
        ]}
      />
    </section>
  );
}
