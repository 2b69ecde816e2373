import type { Figures } from "./measure.ts";
import { table } from "./report.ts";
import { redisCommands } from "./round-trips.ts";
import { quantile } from "./times.ts";

/** One measurement of a load on a Redis Cluster. */
export interface ShardRound {
  load: string;
  /** Of each queue. */
  shards: number;
  figures: Figures;
}

/** Up to this share of a core a Redis is planned to be used, as in `npm run capacity`. */
const PLANNED_LOAD = 0.6;

/**
 * Returns a table for each load, with a column for each number of shards: sums over its rounds, and medians of what is for
 * an event or a thousand.
 */
export function shardReport(rounds: ShardRound[]): string {
  return [...new Set(rounds.map(({ load }) => load))]
    .map(load => `${load}\n${tableOf(rounds.filter(round => round.load === load))}`)
    .join("\n\n");
}

function tableOf(rounds: ShardRound[]): string {
  const settings = [...new Set(rounds.map(({ shards }) => shards))];
  const columns = settings.map(shards => columnOf(rounds.filter(round => round.shards === shards)));
  return table(
    (columns[0] ?? []).map(([name], row) => [name, ...columns.map(column => column[row]?.[1] ?? "")]),
  );
}

function columnOf(rounds: ShardRound[]): [name: string, cell: string][] {
  const total = (of: (figures: Figures) => number) =>
    String(rounds.reduce((sum, { figures }) => sum + of(figures), 0));
  const each = (of: (round: ShardRound) => string) => rounds.map(of).join(" ");
  const hottestOf = (round: ShardRound) => Math.max(...mastersOf(round));
  const hottest = median(rounds, hottestOf);
  const all = median(rounds, ({ figures }) => figures.cpu.redis);
  const masters = mastersOf(rounds[0]);
  const rate = (cores: number, secondsPerThousand: number) =>
    Math.round((PLANNED_LOAD * cores * 1000) / secondsPerThousand).toLocaleString("en");
  return [
    ["shards of each queue", String(rounds[0]?.shards)],
    ["accepted", total(({ delivered, lost }) => delivered + lost)],
    ["delivered", total(({ delivered }) => delivered)],
    ["lost", total(({ lost }) => lost)],
    ["doubled", total(({ doubled }) => doubled)],
    ...masters.map((_, n): [string, string] => [
      `CPU s per 1,000, master ${n + 1}`,
      median(rounds, round => mastersOf(round)[n] ?? 0).toFixed(3),
    ]),
    ["  the hottest master", hottest.toFixed(3)],
    ["  all masters", all.toFixed(3)],
    ["  Headwater", median(rounds, ({ figures }) => figures.cpu.ours).toFixed(2)],
    ["  MongoDB", median(rounds, ({ figures }) => figures.cpu.mongodb).toFixed(2)],
    ["commands an event", median(rounds, commandsOf).toFixed(1)],
    ["events/s at 60 % of the hottest master", rate(1, hottest)],
    ["  if all had the same to do", rate(masters.length, all)],
    ["each round: the hottest master", each(round => hottestOf(round).toFixed(3))],
    ["  all masters", each(({ figures }) => figures.cpu.redis.toFixed(3))],
    ["  accepted/s", each(({ figures }) => figures.acceptedPerSecond.toFixed(0))],
    ["  others on the machine", each(({ figures }) => `${(figures.elsewhere * 100).toFixed(0)}%`)],
  ];
}

const commandsOf = ({ figures }: ShardRound): number => redisCommands(figures.roundTrips ?? {});

function median(rounds: ShardRound[], of: (round: ShardRound) => number): number {
  const values = rounds.map(of).sort((a, b) => a - b);
  return quantile(values, 0.5);
}

/** Returns the processor seconds of each master for 1,000 events. */
function mastersOf(round: ShardRound | undefined): number[] {
  const { processes = [], delivered = 0 } = round?.figures ?? {};
  return processes
    .filter(({ group }) => group === "redis")
    .map(({ cpuSeconds }) => (cpuSeconds * 1000) / Math.max(1, delivered));
}
