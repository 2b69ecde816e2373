import { useMemo } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import type { Hour } from "../api/calls";
import { to } from "../lib/address";
import { count, duration } from "../lib/format";
import { Card, LinkButton } from "../ui/basics";
import type { ChartProps, Series } from "../ui/chart";
import { later } from "../ui/later";

const Chart = later<ChartProps>(async () => (await import("../ui/chart")).Chart);

/** More hours than a week's are drawn as days: 720 bars side by side are a hatching. */
const MOST_HOURS = 168;
const HOUR_S = 3600;
const COUNTS = ["emitted", "delivered", "failed"] as const;

/** What was counted in an hour or in a day. */
interface Bar extends Pick<Hour, (typeof COUNTS)[number]> {
  /** Unix seconds of its beginning, and of its end. */
  at: number;
  until: number;
}

const startOfDay = (seconds: number) => new Date(seconds * 1000).setHours(0, 0, 0, 0) / 1000;

/** The hours, or the days of the reader's zone if there are many hours. */
function barsOf(rows: Hour[]): Bar[] {
  if (rows.length <= MOST_HOURS) return rows.map(row => ({ ...row, until: row.at + HOUR_S }));
  const days = new Map<number, Bar>();
  for (const row of rows) {
    const at = startOfDay(row.at);
    const day = days.get(at) ?? { at, until: at, emitted: 0, delivered: 0, failed: 0 };
    for (const field of COUNTS) day[field] += row[field];
    day.until = row.at + HOUR_S;
    days.set(at, day);
  }
  return [...days.values()];
}

const momentOf = (seconds: number) => new Date(seconds * 1000).toISOString().replace(".000", "");

interface HourChartProps {
  rows: Hour[];
  kind: "source" | "listener" | "account";
  /** The id of the source or listener; absent for the account. */
  of?: string;
}

/** Events per hour or day; below a source or a listener also how soon its deliveries got a response. */
export function HourChart({ rows, kind, of }: HourChartProps) {
  const { route } = useLocation();
  const bars = useMemo(() => barsOf(rows), [rows]);
  const times = useMemo(() => bars.map(bar => bar.at), [bars]);
  const events = useMemo<Series[]>(() => {
    const line = (label: string, color: string, field: (typeof COUNTS)[number]): Series => ({
      label,
      color,
      values: bars.map(bar => bar[field]),
      total: count(bars.reduce((sum, bar) => sum + bar[field], 0)),
      isBar: true,
    });
    const first = kind === "listener" ? [] : [{ ...line("Emitted", "--info", "emitted"), isBar: false }];
    return [
      ...first,
      line("Delivered", "--accent-fill", "delivered"),
      line("Failed", "--bad-fill", "failed"),
    ];
  }, [bars]);
  const hours = useMemo(() => rows.map(row => row.at), [rows]);
  const times95 = useMemo<Series[]>(
    () => [
      { label: "Median", color: "--accent-fill", values: rows.map(row => row.p50_ms) },
      { label: "95th percentile", color: "--warn", values: rows.map(row => row.p95_ms) },
    ],
    [rows],
  );
  const per = rows.length > MOST_HOURS ? "day" : "hour";
  const deliveriesOf = (first: Bar | undefined, last: Bar | undefined) =>
    to("/deliveries", {
      [kind === "source" ? "emitter_id" : "webhook_id"]: of,
      since: first && momentOf(first.at),
      // Both ends are included.
      until: last && momentOf(last.until - 1),
    });
  return (
    <div class={kind === "account" ? "" : "columns"}>
      <Card
        title={`Events per ${per}`}
        actions={
          <LinkButton isSmall href={deliveriesOf(bars[0], bars.at(-1))}>
            Deliveries of this time
          </LinkButton>
        }
      >
        <Chart
          times={times}
          series={events}
          format={count}
          label={`Events per ${per}`}
          onPick={i => route(deliveriesOf(bars[i], bars[i]))}
        />
      </Card>
      {kind !== "account" && (
        <Card title="Response time of deliveries">
          <Chart times={hours} series={times95} format={duration} label="Response time of deliveries" />
        </Card>
      )}
    </div>
  );
}
