import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { addStyles } from "../lib/styles";
import { theme } from "../lib/theme";
import styles from "../styles/later/chart.css";

addStyles(styles);

export interface Series {
  label: string;
  /** The name of a colour in styles/tokens.css. */
  color: string;
  values: (number | null)[];
  isBar?: boolean;
  /** What the legend says while no moment is pointed at. */
  total?: string;
}

export interface ChartProps {
  /** Unix seconds, one for each value. */
  times: number[];
  series: Series[];
  format: (value: number) => string;
  label: string;
  /** Called with the index of the moment that was clicked. */
  onPick?: (index: number) => void;
}

const HEIGHT = 190;
const HOUR_S = 3600;
/** Counts and milliseconds are whole. */
const STEPS = Array.from({ length: 10 }, (_, power) => [1, 2, 5].map(one => one * 10 ** power)).flat();

const day = new Intl.DateTimeFormat("en", { month: "short", day: "numeric" });
const hour = new Intl.DateTimeFormat("en", { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const moment = new Intl.DateTimeFormat("en", {
  ...{ month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" },
  ...{ hourCycle: "h23", timeZoneName: "short" },
});

/** The date at midnight, else the time of day, in the reader's zone; of Unix seconds. */
const tick = (seconds: number): string => {
  const date = new Date(seconds * 1000);
  return (date.getHours() + date.getMinutes() === 0 ? day : hour).format(date);
};

/** A canvas draws no CSS variables, so they are read when it is drawn. */
const colorOf = (name: string) => {
  const probe = document.createElement("span");
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
};

/** The places of values between two gaps. */
const lonely = (values: (number | null)[]) =>
  values.flatMap((value, i) =>
    value !== null && (values[i - 1] ?? null) === null && (values[i + 1] ?? null) === null ? [i] : [],
  );

const faded = (color: string) => color.replace("rgb(", "rgba(").replace(")", ", 0.14)");

/** Lines or bars over time. The numbers are also in the legend; who draws it has a table of them, too. */
export function Chart({ times, series, format, label, onPick }: ChartProps) {
  const holder = useRef<HTMLDivElement>(null);
  const drawn = useRef<uPlot | null>(null);
  const colors = theme.value;
  const data: uPlot.AlignedData = [times, ...series.map(one => one.values)];
  const latest = useRef({ series, onPick, step: HOUR_S });
  latest.current = { series, onPick, step: (times[1] ?? 0) - (times[0] ?? 0) || HOUR_S };
  useEffect(() => {
    const element = holder.current;
    if (element === null) return;
    const axis = {
      stroke: colorOf("--text-3"),
      grid: { stroke: colorOf("--line"), width: 1 },
      ticks: { show: false },
      font: `11px ${getComputedStyle(document.body).fontFamily}`,
    };
    const bars = uPlot.paths.bars?.({ size: [0.72, 26], radius: 0.2 });
    const chart = new uPlot(
      {
        width: element.clientWidth,
        height: HEIGHT,
        cursor: { y: false, points: { size: 7 } },
        legend: { live: true },
        padding: [12, 16, 0, 0],
        axes: [
          { ...axis, grid: { show: false }, gap: 8, size: 30, values: (_, ticks) => ticks.map(tick) },
          { ...axis, size: 54, incrs: STEPS, values: (_, ticks) => ticks.map(format) },
        ],
        scales: {
          // The first and the last bar are drawn whole.
          x: {
            range: (_, first, last) => [first - latest.current.step / 2, last + latest.current.step / 2],
          },
          y: { range: (_, __, most) => [0, Math.max(1, most * 1.1)] },
        },
        series: [
          {
            label: "Time",
            value: (_: uPlot, at: number | null) => (at === null ? "–" : moment.format(at * 1000)),
          },
          ...series.map((one, i) => {
            const color = colorOf(one.color);
            return {
              label: one.label,
              stroke: color,
              width: one.isBar ? 0 : 2,
              fill: one.isBar ? color : faded(color),
              ...(one.isBar && bars && { paths: bars }),
              // A line of one hour alone is nothing to see.
              points: {
                show: !one.isBar,
                size: 5,
                fill: color,
                filter: () => lonely(latest.current.series[i]?.values ?? []),
              },
              value: (_: uPlot, value: number | null, __: number, at: number | null) => {
                if (at === null) return latest.current.series[i]?.total ?? "–";
                return value === null ? "–" : format(value);
              },
            };
          }),
        ],
      },
      data,
      element,
    );
    drawn.current = chart;
    if (onPick) chart.over.style.cursor = "pointer";
    chart.over.addEventListener("click", () => {
      const { idx } = chart.cursor;
      if (typeof idx === "number") latest.current.onPick?.(idx);
    });
    const observer = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height: HEIGHT }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      drawn.current = null;
      chart.destroy();
    };
  }, [series.map(one => one.label).join("\0"), format, colors]);
  // New values leave the chart, and the pointer in it, where they are.
  useEffect(() => drawn.current?.setData(data), [times, series]);
  return <div class="chart" ref={holder} role="img" aria-label={label} />;
}
