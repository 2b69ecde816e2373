import { ORIGIN } from "./capacity/constants.ts";
import { type Demand, type Plan, plan } from "./capacity/model.ts";
import { HELP, readOptions } from "./capacity/options.ts";
import { runEntry } from "./entry.ts";
import { table } from "./report.ts";

/** Formats a plan for the terminal. */
function planText({ events, fanOut, payloadBytes, retentionDays, way }: Demand, made: Plan): string {
  const { processes, redis, mongodb, network } = made;
  const size = payloadBytes < 1024 ? `${payloadBytes} bytes` : `${round(payloadBytes / 1024)} KB`;
  return [
    `${round(events)} events/s by ${way}, ${round(fanOut)} webhooks each, ${size}, ${round(retentionDays)} days`,
    "",
    table([
      ["", "processes", "cores together", "memory"],
      ...Object.entries(processes).map(([name, { count, cores, memoryMb }]) => [
        name,
        String(count),
        cores.toFixed(2),
        memory(memoryMb),
      ]),
      ["all", String(count(made)), made.cores.toFixed(2), memory(made.memoryMb)],
      ["Redis", `${redis.masters} x 1 core`, redis.cores.toFixed(2), memory(redis.memoryMb)],
      ["MongoDB", `a set of 3`, mongodb.cores.toFixed(2), ""],
    ]),
    "",
    `Redis: ${memory(redis.memoryMb)} of maxmemory, ${memory(redis.backlogMb)} of it for a backlog; twice that on the machine while it rewrites its file`,
    `MongoDB: ${round(mongodb.dataGb)} GB of data (before compression) and ${round(mongodb.indexGb)} GB of indexes on each member; indexes should fit its cache; up to ${mongodb.connections} connections`,
    `Network, Mbit/s: ${round(network.in)} in, ${round(network.out)} out to webhooks, ${round(network.redis)} with Redis, ${round(network.mongodb)} with MongoDB`,
    ...(made.walls.length > 0 ? ["", "Walls", ...made.walls.map(wall => `  ${wall}`)] : []),
    "",
    `Measured ${ORIGIN.cpu.date} at ${ORIGIN.cpu.commit} (${ORIGIN.cpu.command}). Another processor is another figure: measure yours with npm run bench.`,
  ].join("\n");
}

const count = ({ processes }: Plan): number =>
  Object.values(processes).reduce((sum, one) => sum + one.count, 0);

const memory = (megabytes: number): string =>
  megabytes < 1000 ? `${Math.ceil(megabytes)} MB` : `${(megabytes / 1024).toFixed(1)} GB`;

/** With two digits that count. */
const round = (value: number): string =>
  value >= 10 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(2)));

async function main(args: string[]): Promise<void> {
  const { demand, json } = readOptions(args);
  const made = plan(demand);
  console.log(
    json ? JSON.stringify({ demand, plan: made, origin: ORIGIN }, null, 2) : planText(demand, made),
  );
}

await runEntry(HELP, main, "capacity");
