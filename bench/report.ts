import { type Aim, PEERS } from "./aims.ts";
import type { Figures } from "./measure.ts";
import type { Usage } from "./meter.ts";
import { MONGODB_REQUESTS, REDIS_READS, type RoundTrips } from "./round-trips.ts";
import type { TimerFigures } from "./timers.ts";
import type { Row } from "./workloads.ts";

const ms = (value: number) => value.toFixed(value < 100 ? 1 : 0);
const seconds = (value: number) => value.toFixed(3);
const whole = (value: number) => Math.round(value).toLocaleString("en");

/** Formats rows of cells as text; the first column is aligned left, the others right. */
export function table(rows: string[][]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map(row => row[column]?.length ?? 0)));
  const line = (row: string[]) =>
    row.map((cell, column) => (column ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[0] ?? 0)));
  return rows.map(row => line(row).join("  ").trimEnd()).join("\n");
}

/** Formats all figures for the terminal. */
export function reportOf(rows: Row[], timers: TimerFigures[], aims: Aim[]): string {
  return [
    ...(rows.length > 0 ? rowLines(rows) : []),
    ...(timers.length > 0 ? timerLines(timers) : []),
    "Aims",
    table([
      ["", "aim", "measured", ""],
      ...aims.map(({ workload, what, aim, measured, isMet }) => [
        `${workload} ${what}`,
        aim,
        measured,
        isMet ? "met" : "MISSED",
      ]),
    ]),
    "",
    ...peerLines(rows),
  ].join("\n");
}

function rowLines(rows: Row[]): string[] {
  return [
    "Rates, latency (ms)",
    table([
      ["", "accepted/s", "delivered/s", "lost", "doubled", "strays", "p50", "p95", "p99"],
      ...allSides(rows, rateCells),
    ]),
    "",
    "CPU seconds per 1,000 deliveries (all: processes of Headwater, the raw limit or a peer with its PostgreSQL, Redis",
    "and MongoDB; others: share of this machine's CPU time that went elsewhere at the same time)",
    table([
      ["", "all", "processes", "Redis", "MongoDB", "sender", "receiver", "others"],
      ...allSides(rows, ({ cpu, elsewhere }) => [
        ...[cpu.all, cpu.ours, cpu.redis, cpu.mongodb, cpu.sender, cpu.receiver].map(seconds),
        `${(elsewhere * 100).toFixed(0)} %`,
      ]),
    ]),
    "",
    "Each process: total CPU seconds / RSS peak in MB",
    ...rows.flatMap(({ workload, what, ours, peers = [] }) => [
      `${workload} ${what}: ${processesOf(ours.processes)}`,
      ...peers.map(({ title, figures }) => `   ${title}: ${processesOf(figures.processes)}`),
    ]),
    "",
    ...backlogLines(rows),
    ...roundTripLines(rows),
  ];
}

function backlogLines(rows: Row[]): string[] {
  const atOnce = allSides(rows, ({ backlog }) =>
    backlog
      ? [
          whole(backlog.deliveriesLeft),
          whole(backlog.deliveredPerSecond.whileSending),
          whole(backlog.deliveredPerSecond.after),
          ...(["first", "last"] as const).map(name => {
            const { p50, p95 } = backlog.acceptance[name];
            return `${ms(p50)} / ${ms(p95)}`;
          }),
        ]
      : [],
  ).filter(cells => cells.length > 1);
  const head = ["", "left at the end", "delivered/s", "after", "acceptance, first quarter", "last quarter"];
  return atOnce.length > 0
    ? [
        "Backlog: deliveries left when all was accepted, acceptance in ms (p50 / p95)",
        table([head, ...atOnce]),
        "",
      ]
    : [];
}

function roundTripLines(rows: Row[]): string[] {
  const sides = rows.flatMap(({ workload, what, ours, raw }) => [
    { name: `${workload} ${what}`, counts: ours.roundTrips },
    { name: "   raw limit", counts: raw?.roundTrips },
  ]);
  const lines = sides.flatMap(({ name, counts }) => (counts ? [`${name}: ${roundTripsOf(counts)}`] : []));
  return lines.length > 0 ? ["Round trips of an event (--json has all commands)", ...lines, ""] : [];
}

function roundTripsOf({ [REDIS_READS]: redis = 0, [MONGODB_REQUESTS]: mongodb = 0, ...calls }: RoundTrips) {
  const some = (name: string) => (calls[name] ?? 0).toFixed(1);
  return (
    `Redis ${redis.toFixed(1)} (scripts ${some("Redis evalsha")}, waits for a job ${some("Redis bzpopmin")}), ` +
    `MongoDB ${mongodb.toFixed(1)} (inserts ${some("MongoDB insert")}, finds ${some("MongoDB find")}, ` +
    `updates ${some("MongoDB update")})`
  );
}

/** Formats the figures of W7. */
function timerLines(timers: TimerFigures[]): string[] {
  return [
    "Timers: lateness (s), CPU seconds of a run (all: Headwater, Redis and MongoDB), sandboxes at the end",
    table([
      [
        "",
        "due",
        "ran once",
        "runs/s",
        "p50",
        "p99",
        "max",
        "all",
        "ours",
        "Redis",
        "MongoDB",
        "sandboxes",
        "MB",
      ],
      ...timers.map(({ form, due, ran, runsPerSecond, latenessMs: { p50, p99, max }, cpu, sandboxes }) => [
        `W7 ${form}`,
        String(due),
        String(ran),
        runsPerSecond.toFixed(1),
        ...[p50, p99, max].map(value => (value / 1000).toFixed(2)),
        ...[cpu.all, cpu.ours, cpu.redis, cpu.mongodb].map(seconds),
        String(sandboxes.count),
        sandboxes.mb.toFixed(0),
      ]),
    ]),
    "",
    "Each process: total CPU seconds / RSS peak in MB; others: share of this machine's CPU time that went elsewhere",
    ...timers.map(
      ({ form, processes, elsewhere }) =>
        `W7 ${form}: ${processesOf(processes)}; others ${(elsewhere * 100).toFixed(0)} %`,
    ),
    "",
  ];
}

function allSides(rows: Row[], cells: (figures: Figures) => string[]): string[][] {
  return rows.flatMap(({ workload, what, ours, raw, peers = [] }) => [
    [`${workload} ${what}`, ...cells(ours)],
    ...(raw ? [["   raw limit", ...cells(raw)]] : []),
    ...peers.map(({ title, figures }) => [`   ${title}`, ...cells(figures)]),
  ]);
}

function rateCells(figures: Figures): string[] {
  const { p50, p95, p99 } = figures.latencyMs;
  return [
    whole(figures.acceptedPerSecond),
    whole(figures.deliveredPerSecond),
    String(figures.lost),
    String(figures.doubled),
    String(figures.strays),
    ...[p50, p95, p99].map(ms),
  ];
}

function processesOf(processes: Usage[]): string {
  return processes
    .map(one => `${one.name} ${one.cpuSeconds.toFixed(1)}/${one.rssPeakMb.toFixed(0)}`)
    .join(", ");
}

/** Figures of other products, apart from the table because they were measured on another machine. */
function peerLines(rows: Row[]): string[] {
  const names = new Set(rows.map(row => row.workload));
  const lines = [...names].flatMap(name => (PEERS[name] ? [`  ${name} ${PEERS[name]}`] : []));
  return lines.length > 0 ? ["Other products (64 publishers, on another machine)", ...lines] : [];
}
