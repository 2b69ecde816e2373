import { useMemo } from "preact/hooks";
import type { Hour } from "../api/calls";
import { count, duration } from "../lib/format";
import { Card } from "../ui/basics";
import type { ChartProps, Series } from "../ui/chart";
import { later } from "../ui/later";

const Chart = later<ChartProps>(async () => (await import("../ui/chart")).Chart);

/** Events per hour; below a source or a listener also how soon its deliveries got a response. */
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
