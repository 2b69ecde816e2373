import { useMemo } from "preact/hooks";
import type { Hour } from "../api/calls";
import { duration } from "../lib/format";
import { Card } from "../ui/basics";
import type { ChartProps, Series } from "../ui/chart";
import { later } from "../ui/later";
import type { Bar } from "./chart-table";
import { EventsChart, hourBars } from "./hour-chart";

const Chart = later<ChartProps>(async () => (await import("../ui/chart")).Chart);

/** More hours than a week's are drawn as days: 720 bars side by side are a hatching. */
const MOST_HOURS = 168;

const startOfDay = (seconds: number) => new Date(seconds * 1000).setHours(0, 0, 0, 0) / 1000;

/** A bar for each day of the reader's zone. */
function dayBars(rows: Hour[]): Bar[] {
  const days = new Map<number, Bar>();
  for (const { at: hour, until, ...counts } of hourBars(rows)) {
    const at = startOfDay(hour);
    const day = days.get(at) ?? { at, until, emitted: 0, delivered: 0, failed: 0 };
    for (const field of ["emitted", "delivered", "failed"] as const) day[field] += counts[field];
    days.set(at, { ...day, until });
  }
  return [...days.values()];
}

interface HourChartsProps {
  rows: Hour[];
  /** Of all the hours together. */
  total: Hour;
  of: string;
  isListener: boolean;
}

/** What a source or a listener did over time, and how soon its deliveries got a response. */
export function HourCharts({ rows, total, of, isListener }: HourChartsProps) {
  const isByDay = rows.length > MOST_HOURS;
  const bars = useMemo(() => (isByDay ? dayBars(rows) : hourBars(rows)), [rows]);
  const hours = useMemo(() => rows.map(row => row.at), [rows]);
  const responses = useMemo<Series[]>(
    () => [
      {
        ...{ label: "Median", color: "--accent-fill", total: duration(total.p50_ms) },
        values: rows.map(row => row.p50_ms),
      },
      {
        ...{ label: "95th percentile", color: "--warn", total: duration(total.p95_ms) },
        values: rows.map(row => row.p95_ms),
      },
    ],
    [rows, total],
  );
  return (
    <div class="columns">
      <EventsChart bars={bars} per={isByDay ? "day" : "hour"} of={of} isListener={isListener} />
      <Card title="Response time of deliveries">
        <Chart times={hours} series={responses} format={duration} label="Response time of deliveries" />
      </Card>
    </div>
  );
}
