import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import { droppedLines } from "../lib/logger.ts";
import {
  CATALOGUE,
  type CounterEntry,
  type CounterName,
  type GaugeEntry,
  type GaugeName,
  type HistogramEntry,
  type HistogramName,
  type LabelsOf,
} from "./catalogue.ts";

/** A metric without labels takes none. */
type LabelArgs<Name extends keyof typeof CATALOGUE> = keyof LabelsOf<Name> extends never
  ? [labels?: Record<string, never>]
  : [labels: LabelsOf<Name>];

/** The metrics of one process. */
export class Metrics {
  readonly #registry = new Registry();
  readonly #counters = new Map<string, Counter>();
  readonly #histograms = new Map<string, Histogram>();
  readonly #gauges = new Map<string, Gauge>();
  readonly #collectors: (() => Promise<void>)[] = [];
  #hasProcessMetrics = false;
  #droppedLines = 0;

  constructor() {
    const registers = [this.#registry];
    const entries: [string, CounterEntry | HistogramEntry | GaugeEntry][] = Object.entries(CATALOGUE);
    for (const [name, entry] of entries) {
      const options = {
        name: `headwater_${name}`,
        help: entry.help,
        labelNames: [...entry.labels],
        registers,
      };
      if (entry.kind === "counter") this.#counters.set(name, new Counter(options));
      // A gauge is registered with its collector: a process that doesn't collect it doesn't expose it.
      else if (entry.kind === "gauge") this.#gauges.set(name, new Gauge({ ...options, registers: [] }));
      else this.#histograms.set(name, new Histogram({ ...options, buckets: [...entry.buckets] }));
    }
  }

  /** Raises a counter by 1, or by `by`. */
  count<Name extends CounterName>(name: Name, labels: LabelsOf<Name>, by = 1): void {
    this.#counters.get(name)?.inc(labels, by);
  }

  /** Records a duration in seconds. */
  observe<Name extends HistogramName>(name: Name, seconds: number, ...[labels]: LabelArgs<Name>): void {
    this.#histograms.get(name)?.observe({ ...labels }, Math.max(0, seconds));
  }

  /** Sets a gauge; called by a collector. */
  set<Name extends GaugeName>(name: Name, value: number, ...[labels]: LabelArgs<Name>): void {
    this.#gauges.get(name)?.set({ ...labels }, value);
  }

  /** Exposes gauges from now on; `collect` sets them before each exposition. */
  collectGauges(names: readonly GaugeName[], collect: () => Promise<void>): void {
    for (const name of names) this.#registry.registerMetric(this.#gauges.get(name) as Gauge);
    this.#collectors.push(collect);
  }

  /** Returns the metrics in Prometheus' text format, with those of Node's process. */
  async expose(): Promise<{ contentType: string; body: string }> {
    if (!this.#hasProcessMetrics) {
      // Not before the first exposition: a process that is never asked need not watch its event loop.
      this.#hasProcessMetrics = true;
      collectDefaultMetrics({ register: this.#registry });
    }
    for (const collect of this.#collectors) await collect();
    this.#countDroppedLines();
    return { contentType: this.#registry.contentType, body: await this.#registry.metrics() };
  }

  /** The log is below the metrics, and open before them. */
  #countDroppedLines(): void {
    const lines = droppedLines();
    this.count("log_lines_dropped_total", {}, lines - this.#droppedLines);
    this.#droppedLines = lines;
  }

  /** Returns the value of a counter, over all of its labels or for some of them. */
  async valueOf(name: CounterName, labels: Record<string, string> = {}): Promise<number> {
    const { values = [] } = (await this.#counters.get(name)?.get()) ?? {};
    return values
      .filter(({ labels: own }) => Object.entries(labels).every(([key, value]) => own[key] === value))
      .reduce((sum, { value }) => sum + value, 0);
  }
}
