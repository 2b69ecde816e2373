import { useMemo } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import { count } from "../lib/format";
import { Chart, type Series } from "../ui/chart";
import { type Bar, ChartTable, type ChartTableProps } from "./chart-table";

export interface EventsPlotProps extends ChartTableProps {
  title: string;
}

/** Bars of events and their table; a click on a bar leads to its deliveries. */
export function EventsPlot({ bars, title, hasEmitted, addressOf }: EventsPlotProps) {
  const { route } = useLocation();
  const times = useMemo(() => bars.map(bar => bar.at), [bars]);
  const series = useMemo<Series[]>(() => {
    const line = (label: string, color: string, field: "emitted" | "delivered" | "failed"): Series => ({
      label,
      color,
      values: bars.map((bar: Bar) => bar[field]),
      total: count(bars.reduce((sum, bar) => sum + bar[field], 0)),
      isBar: true,
    });
    return [
      ...(hasEmitted ? [{ ...line("Emitted", "--info", "emitted"), isBar: false }] : []),
      line("Delivered", "--accent-fill", "delivered"),
      line("Failed", "--bad-fill", "failed"),
    ];
  }, [bars]);
  return (
    <>
      <Chart
        times={times}
        series={series}
        format={count}
        label={title}
        onPick={i => route(addressOf(bars[i]))}
      />
      <ChartTable bars={bars} hasEmitted={hasEmitted} addressOf={addressOf} />
    </>
  );
}
