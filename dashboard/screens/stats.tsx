import { type Hour, readStats } from "../api/calls";
import { useFresh } from "../api/fresh";
import { useResource } from "../api/resource";
import { useFilters } from "../lib/address";
import { count, duration, successRate } from "../lib/format";
import { Loaded, NothingYet } from "../ui/states";
import { Tile } from "../ui/tile";
import { Dropped } from "./dropped";
import { HourCharts } from "./hour-charts";

const RANGES = [
  ["24", "24 hours"],
  ["168", "7 days"],
  ["720", "30 days"],
] as const;

interface StatsChartsProps {
  of: string;
  kind: "source" | "listener";
  /** What makes something happen that is counted. */
  command: string;
}

const isNothing = (total: Hour) =>
  total.emitted + total.runs + total.attempts === 0 && Object.values(total.dropped).every(one => one === 0);

/** What a source, a webhook or a destination did, from the hourly counts. `of` is its id. */
export function StatsCharts({ of, kind, command }: StatsChartsProps) {
  const filters = useFilters([]);
  const hours = filters.query.hours ?? "24";
  const resource = useResource(call => readStats(of, { hours: Number(hours) }, call), [of, hours]);
  useFresh(resource, { of });
  return (
    <div class="stack">
      <fieldset class="row group" aria-label="Time">
        {RANGES.map(([value, label]) => (
          <button
            key={value}
            type="button"
            class={`button small${value === hours ? " primary" : ""}`}
            aria-pressed={value === hours}
            onClick={() => filters.set({ hours: value })}
          >
            {label}
          </button>
        ))}
      </fieldset>
      <Loaded resource={resource}>
        {({ hours: rows, total }) => (
          <>
            {isNothing(total) && (
              <section class="card">
                <NothingYet icon="chart" title="Nothing to count in this time" command={command}>
                  {kind === "listener"
                    ? "What is sent here is counted by the hour: the events of what it is subscribed to. This command subscribes it to a source:"
                    : "What the source does is counted by the hour. This command makes it emit:"}
                </NothingYet>
              </section>
            )}
            {kind === "listener" ? (
              <div class="tiles">
                <Tile
                  label="Success"
                  value={successRate(total)}
                  note={`${count(total.delivered)} delivered`}
                />
                <Tile
                  label="Failed for good"
                  value={count(total.failed)}
                  note={`${count(total.retried)} retries`}
                />
                <Tile label="Typical response" value={duration(total.p50_ms)} note="median" />
                <Tile label="Slow response" value={duration(total.p95_ms)} note="95th percentile" />
              </div>
            ) : (
              <div class="tiles">
                <Tile label="Emitted" value={count(total.emitted)} />
                <Tile label="Runs" value={count(total.runs)} note={`${count(total.run_errors)} failed`} />
                <Tile
                  label="Delivered"
                  value={count(total.delivered)}
                  note={`${successRate(total)} of those that ended`}
                />
                <Tile
                  label="Slow response"
                  value={duration(total.p95_ms)}
                  note="95th percentile of deliveries"
                />
              </div>
            )}
            <HourCharts rows={rows} total={total} of={of} isListener={kind === "listener"} />
            <Dropped dropped={total.dropped} />
          </>
        )}
      </Loaded>
    </div>
  );
}
