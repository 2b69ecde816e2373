import { useMemo } from "preact/hooks";
import { type Hour, readStats } from "../api/calls";
import { useFresh } from "../api/fresh";
import { useResource } from "../api/resource";
import { useFilters } from "../lib/address";
import { count, duration } from "../lib/format";
import { Card } from "../ui/basics";
import type { ChartProps, Series } from "../ui/chart";
import { later } from "../ui/later";
import { Loaded, NothingYet } from "../ui/states";
import { Dropped } from "./dropped";

const Chart = later<ChartProps>(async () => (await import("../ui/chart")).Chart);

const RANGES = [
  ["24", "24 hours"],
  ["168", "7 days"],
  ["720", "30 days"],
] as const;

export function Tile({ label, value, note }: { label: string; value: string; note?: string | undefined }) {
  return (
    <div class="card tile">
      <div class="label">{label}</div>
      <div class="value">{value}</div>
      {note && <div class="note">{note}</div>}
    </div>
  );
}

/** Deliveries that arrived, of those that ended; in percent. */
export function successRate({ delivered, failed }: Pick<Hour, "delivered" | "failed">): string {
  const ended = delivered + failed;
  if (ended === 0) return "–";
  const percent = (100 * delivered) / ended;
  return `${percent === 100 || percent < 10 ? Math.round(percent) : percent.toFixed(1)}%`;
}

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
            <HourChart rows={rows} kind={kind} />
            <Dropped dropped={total.dropped} />
          </>
        )}
      </Loaded>
    </div>
  );
}

export function HourChart({ rows, kind }: { rows: Hour[]; kind: "source" | "listener" | "account" }) {
  const times = useMemo(() => rows.map(row => row.at), [rows]);
  const events = useMemo<Series[]>(() => {
    const line = (
      label: string,
      color: string,
      field: "emitted" | "delivered" | "failed" | "run_errors",
    ): Series => ({
      label,
      color,
      values: rows.map(row => row[field]),
      isBar: true,
    });
    const first = kind === "listener" ? [] : [{ ...line("Emitted", "--info", "emitted"), isBar: false }];
    return [
      ...first,
      line("Delivered", "--accent-fill", "delivered"),
      line("Failed", "--bad-fill", "failed"),
    ];
  }, [rows]);
  const times95 = useMemo<Series[]>(
    () => [
      { label: "Median", color: "--accent-fill", values: rows.map(row => row.p50_ms) },
      { label: "95th percentile", color: "--warn", values: rows.map(row => row.p95_ms) },
    ],
    [rows],
  );
  return (
    <div class={kind === "account" ? "" : "columns"}>
      <Card title="Events per hour">
        <Chart times={times} series={events} format={count} label="Events per hour" />
      </Card>
      {kind !== "account" && (
        <Card title="Response time of deliveries">
          <Chart times={times} series={times95} format={duration} label="Response time of deliveries" />
        </Card>
      )}
    </div>
  );
}
