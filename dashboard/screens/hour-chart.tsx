import { useMemo } from "preact/hooks";
import type { Hour } from "../api/calls";
import { to } from "../lib/address";
import { Card, LinkButton } from "../ui/basics";
import { later } from "../ui/later";
import type { Bar } from "./chart-table";
import type { EventsPlotProps } from "./events-plot";

const EventsPlot = later<EventsPlotProps>(async () => (await import("./events-plot")).EventsPlot);

const HOUR_S = 3600;

/** A bar for each hour. */
export const hourBars = (rows: Hour[]): Bar[] => rows.map(row => ({ ...row, until: row.at + HOUR_S }));

const momentOf = (seconds: number) => new Date(seconds * 1000).toISOString().replace(".000", "");

interface EventsChartProps {
  bars: Bar[];
  /** What a bar is: an hour, unless it is a day. */
  per?: string;
  /** The id of a source or a listener; absent for the account. */
  of?: string;
  isListener?: boolean;
}

/** Events per hour or day, each of which leads to its deliveries. */
export function EventsChart({ bars, per = "hour", of, isListener = false }: EventsChartProps) {
  const deliveriesOf = (first: Bar | undefined, last = first) =>
    to("/deliveries", {
      [isListener ? "webhook_id" : "emitter_id"]: of,
      since: first && momentOf(first.at),
      // Both ends are included.
      until: last && momentOf(last.until - 1),
    });
  const title = `Events per ${per}`;
  return (
    <Card
      title={title}
      actions={
        <LinkButton isSmall href={deliveriesOf(bars[0], bars.at(-1))}>
          Deliveries of this time
        </LinkButton>
      }
    >
      <EventsPlot bars={bars} title={title} hasEmitted={!isListener} addressOf={deliveriesOf} />
    </Card>
  );
}

/** Events per hour of the account. */
export function HourChart({ rows }: { rows: Hour[] }) {
  const bars = useMemo(() => hourBars(rows), [rows]);
  return <EventsChart bars={bars} />;
}
