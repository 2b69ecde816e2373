import type { TimerFigures, TimerForm } from "./timers.ts";
import type { Row, WorkloadName } from "./workloads.ts";

/** An aim, and whether a row meets it. */
export interface Aim {
  workload: WorkloadName | "W7" | "all";
  what: string;
  aim: string;
  measured: string;
  isMet: boolean;
}

const RATES: Partial<Record<WorkloadName, { ofRaw?: number; cpu?: number }>> = {
  P1: { ofRaw: 0.6, cpu: 0.65 },
  P2: { ofRaw: 0.85, cpu: 0.32 },
  P3: { cpu: 4 },
  W1: { ofRaw: 0.55, cpu: 0.8 },
  W2: { ofRaw: 0.8, cpu: 0.4 },
  W4: { ofRaw: 0.4, cpu: 0.9 },
  W6: { cpu: 6 },
};
const LATENCY: Partial<Record<WorkloadName, { p50: number; p99: number }>> = {
  P3: { p50: 3, p99: 10 },
  W3: { p50: 4, p99: 12 },
  W6: { p50: 8, p99: 25 },
};
/** The rate after the last event was accepted, and how long acceptance takes in the last quarter. */
const BACKLOG = { afterWhileSending: 0.9, lastOfFirst: 2 };
/** With fewer deliveries left at the end there was no backlog, or too little of one to have a rate. */
const BACKLOG_SHARE = 0.1;
/** Below this more than a doubling does not matter: a batch more or less. */
const ACCEPTANCE_FLOOR_MS = 5;
/** W5: the rate with all that data must be at least this share of the rate as new. */
const GROWN = 0.9;
const RSS_MB = 200;

/** Figures of other products for the same workloads with 64 publishers, on another machine: for context only. */
export const PEERS: Partial<Record<WorkloadName, string>> = {
  W1: "Outpost 1,129/s at 1.61 CPU s per 1,000; Svix 708/s at 2.5; Convoy 170/s at 9.9",
  W2: "Svix 2,360/s at 0.76; Outpost 1,600/s at 1.16",
  W3: "Svix p50 3.3 ms, p99 11 ms",
};

export function aimsOf(rows: Row[]): Aim[] {
  return [
    ...rows.flatMap(row => [...rateAims(row), ...latencyAims(row)]),
    ...rows.flatMap(backlogAims),
    ...growthAims(rows),
    ...wholeAims(rows),
  ];
}

function rateAims({ workload, ours, raw }: Row): Aim[] {
  const rate = RATES[workload];
  if (!rate) return [];
  const { ofRaw, cpu } = rate;
  const aims: Aim[] = [];
  if (raw && ofRaw !== undefined) {
    const share = ours.deliveredPerSecond / raw.deliveredPerSecond;
    const what = "delivered/s, share of the raw limit";
    aims.push({
      workload,
      what,
      aim: `>= ${percent(ofRaw)}`,
      measured: percent(share),
      isMet: share >= ofRaw,
    });
  }
  if (cpu !== undefined) {
    const { all } = ours.cpu;
    const what = "CPU s per 1,000, stores included";
    aims.push({ workload, what, aim: `<= ${cpu}`, measured: all.toFixed(2), isMet: all <= cpu });
  }
  return aims;
}

function latencyAims({ workload, ours }: Row): Aim[] {
  const most = LATENCY[workload];
  if (!most) return [];
  return (["p50", "p99"] as const).map(name => ({
    workload,
    what: `latency ${name}`,
    aim: `<= ${most[name]} ms`,
    measured: `${ours.latencyMs[name].toFixed(1)} ms`,
    isMet: ours.latencyMs[name] <= most[name],
  }));
}

/** W7: seconds until the last tick but one percent has begun, or the very last. */
const LATENESS: Record<TimerForm, { what: "p99" | "max"; seconds: number }> = {
  spread: { what: "p99", seconds: 1 },
  "same second": { what: "max", seconds: 15 },
};
const CPU_OF_A_TIMER_RUN = 0.04;

export function timerAims(timers: TimerFigures[]): Aim[] {
  return timers.flatMap(({ form, latenessMs, cpu, ran, due }): Aim[] => {
    const { what, seconds } = LATENESS[form];
    const late = latenessMs[what] / 1000;
    const aim = (text: string, wanted: string, measured: string, isMet: boolean): Aim => {
      return { workload: "W7", what: `${form}, ${text}`, aim: wanted, measured, isMet };
    };
    return [
      aim(`lateness ${what}`, `<= ${seconds} s`, `${late.toFixed(2)} s`, late <= seconds),
      aim("CPU s of a run", `<= ${CPU_OF_A_TIMER_RUN}`, cpu.all.toFixed(3), cpu.all <= CPU_OF_A_TIMER_RUN),
      aim("ticks that ran once", `${due}`, `${ran}`, ran === due),
    ];
  });
}

/** Where more comes in than goes out: it goes out as fast afterwards, and comes in as fast until the end. */
function backlogAims({ workload, what, ours }: Row): Aim[] {
  const { backlog, delivered } = ours;
  if (!backlog || backlog.deliveriesLeft < BACKLOG_SHARE * delivered) return [];
  const { deliveredPerSecond, acceptance } = backlog;
  const rate = deliveredPerSecond.after / deliveredPerSecond.whileSending;
  const slower = acceptance.last.p50 / Math.max(acceptance.first.p50, ACCEPTANCE_FLOOR_MS);
  return [
    {
      workload,
      what: `${what}: delivered/s after sending, share of while sending`,
      aim: `>= ${percent(BACKLOG.afterWhileSending)}`,
      measured: percent(rate),
      isMet: rate >= BACKLOG.afterWhileSending,
    },
    {
      workload,
      what: `${what}: acceptance p50 of the last quarter, times the first`,
      aim: `<= ${BACKLOG.lastOfFirst}`,
      measured: slower.toFixed(1),
      isMet: slower <= BACKLOG.lastOfFirst,
    },
  ];
}

function growthAims(rows: Row[]): Aim[] {
  const [fresh, ...grown] = rows.filter(row => row.workload === "W5");
  return grown.map(({ what, ours }) => {
    const share = ours.deliveredPerSecond / (fresh?.ours.deliveredPerSecond ?? 1);
    const cpuShare = ours.cpu.all / (fresh?.ours.cpu.all ?? 1);
    return {
      workload: "W5",
      what: `delivered/s ${what}, share of as new`,
      aim: `>= ${percent(GROWN)}`,
      measured: `${percent(share)} (CPU s ${percent(cpuShare)})`,
      isMet: share >= GROWN,
    };
  });
}

function wholeAims(rows: Row[]): Aim[] {
  const nodes = rows
    .flatMap(row => row.ours.processes)
    .filter(one => one.group === "ours" && one.name !== "sandboxes")
    .sort((a, b) => b.rssPeakMb - a.rssPeakMb);
  // A stray that arrives while the raw limit is measured is Headwater's too.
  const wrong = rows.reduce(
    (sum, { ours, raw }) => sum + ours.lost + ours.doubled + ours.strays + (raw?.strays ?? 0),
    0,
  );
  const largest = nodes[0];
  return [
    {
      workload: "all",
      what: "lost, doubled or strays",
      aim: "0",
      measured: String(wrong),
      isMet: wrong === 0,
    },
    {
      workload: "all",
      what: "RSS peak of each Node process",
      aim: `<= ${RSS_MB} MB`,
      measured: `${largest?.rssPeakMb.toFixed(0)} MB (${largest?.name})`,
      isMet: (largest?.rssPeakMb ?? 0) <= RSS_MB,
    },
  ];
}

const percent = (share: number) => `${(share * 100).toFixed(0)} %`;
