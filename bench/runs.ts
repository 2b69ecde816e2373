import { type BusyFigures, measureBusySources } from "./busy-sources.ts";
import { parse, positive, runEntry, settingOf } from "./entry.ts";
import { machineLine, machineOf } from "./machine.ts";
import { table } from "./report.ts";
import { measureSandbox, type SandboxFigure } from "./sandbox.ts";
import { storesOfEnvironment } from "./stores.ts";
import { withHeadwater } from "./with-headwater.ts";

const HELP = `Usage: npm run bench:runs -- [options]

Measures a sandbox's cold start, warm run and memory, and then the runs a second of one busy HTTP source and of 200
sources at once, with Headwater's processes as in production on stores of their own. 64 requests at a time, 1 KiB each.

  --requests N     number of requests to the one source, and half as many to the 200 (default 5000)
  --set NAME=VALUE a setting of Headwater; may be repeated. CONCURRENCY=sandboxes:16,runs:32 matters for 200
                   sources`;

const SENDERS = 64;
const BUSY_PER_SECOND = 500;

async function main(args: string[]): Promise<void> {
  const { values } = parse({
    args,
    options: {
      requests: { type: "string", default: "5000" },
      set: { type: "string", multiple: true, default: [] },
    },
  });
  const requests = positive(values.requests, "--requests");
  const settings = Object.fromEntries(values.set.map(settingOf));
  const stores = storesOfEnvironment();
  console.log(machineLine(machineOf(stores)));
  const alone = await measureSandbox();
  const busySources = await withHeadwater({ stores, settings }, async ({ headwater, ends }) => {
    const measure = (sources: number, count: number) =>
      measureBusySources(headwater, ends, { sources, requests: count, senders: SENDERS });
    // Warm-up: the processes have only just started.
    await measure(1, 300);
    const { sandbox, concurrency } = headwater.config;
    const used = `CONCURRENCY=sandboxes:${sandbox.processes},runs:${concurrency.runs}`;
    return [
      busy("one busy HTTP source", await measure(1, requests), BUSY_PER_SECOND),
      busy(`200 sources at once, ${used}`, await measure(200, Math.round(requests / 2))),
    ];
  });
  report([...alone, ...busySources]);
}

function busy(what: string, figures: BusyFigures, aim?: number): SandboxFigure {
  const { runsPerSecond, acceptedPerSecond, cpu, rejected } = figures;
  const failures = Object.entries(rejected).map(([reason, count]) => `, ${count} ${reason}`);
  return {
    what,
    measured:
      `${Math.round(runsPerSecond)} runs/s, ${Math.round(acceptedPerSecond)} accepted/s, ` +
      `${cpu.toFixed(2)} CPU s per 1,000${failures.join("")}`,
    aim: aim === undefined ? "" : `>= ${aim}/s`,
    isMet: aim === undefined ? undefined : runsPerSecond >= aim,
  };
}

function report(figures: SandboxFigure[]): void {
  const verdict = (isMet: boolean | undefined) => (isMet === undefined ? "" : isMet ? "met" : "MISSED");
  console.log(table(figures.map(({ what, measured, aim, isMet }) => [what, measured, aim, verdict(isMet)])));
}

await runEntry(HELP, main);
