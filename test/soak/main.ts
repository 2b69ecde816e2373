import { parseArgs } from "node:util";
import { deviations, table } from "./report.ts";
import { soak } from "./soak.ts";

const HELP = `Usage: npm run test:soak -- [--minutes N] [--seed S] [--no-hangs]

Runs a whole installation of real processes and stores under mixed load, breaks something every few seconds, and
compares what arrived with what was accepted: docs/reliability.md says what exactly. Exit code 1 if anything differs.

  --minutes N   how long load and faults last (default 20); start and drain take some minutes more
  --seed S      repeats the choices of an earlier run: the same requests, changes and faults in the same order
  --no-hangs    endpoints always respond, so that the drain is short
  --processes   separate (default: two of each kind) or all (two web processes and two that consume every queue)

It needs Linux. Full disks need a process that may mount a tmpfs; without that they are skipped.`;

const LAYOUTS: Record<string, string[]> = {
  separate: ["web", "runs", "emissions", "deliveries", "deletions"],
  all: ["web", "all"],
};
const DRAIN_MS = 300_000;

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "20" },
    seed: { type: "string", default: String(Math.floor(Math.random() * 1e6)) },
    processes: { type: "string", default: "separate" },
    "no-hangs": { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

async function main(): Promise<number> {
  const minutes = Number(values.minutes);
  const kinds = LAYOUTS[values.processes];
  if (values.help || !(minutes > 0) || !kinds) {
    console.log(HELP);
    return values.help ? 0 : 2;
  }
  const { seed } = values;
  const startedAt = new Date();
  console.log(`seed ${seed}, ${minutes} min, ${values.processes} processes, ${startedAt.toISOString()}`);
  const ending = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"]) process.once(name, () => ending.abort());
  const rows = await soak({
    ...{ seed, minutes, mayHang: !values["no-hangs"], drainMs: DRAIN_MS, signal: ending.signal },
    names: kinds.flatMap(kind => [`${kind}-1`, `${kind}-2`]),
    gapS: [2, 10],
    longestS: 8,
    say: line => console.log(line),
  });
  const found = deviations(rows);
  console.log(`\n${table(rows)}\n\nseed ${seed}, ${minutes} min: ${found} deviations`);
  return found > 0 ? 1 : 0;
}

process.exit(await main());
