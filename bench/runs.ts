import { type BusyFigures, measureBusySources } from "./busy-sources.ts";
import { parse, positive, runEntry, settingOf } from "./entry.ts";
import { machineLine, machineOf } from "./machine.ts";
import { table } from "./report.ts";
import { measureSandbox, type SandboxFigure } from "./sandbox.ts";
import { givenStores } from "./stores.ts";
import { withHeadwater } from "./with-headwater.ts";

const HELP = `Usage: npm run bench:runs -- [options]

A sandbox's cold start, warm run and memory; then runs a second of one busy HTTP source and of 200 sources at once, on
Headwater's processes as in production with stores of their own. 64 requests at a time, 1 KiB each.

  --requests N     so many to the one source, and half of them to the 200 (5,000)
  --set NAME=VALUE a setting, again for more: 200 sources feel SANDBOX_PROCESSES and RUNS_CONCURRENCY`;

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
  const stores = givenStores();
  console.log(machineLine(machineOf(stores)));
  const alone = await measureSandbox();
  const busySources = await withHeadwater({ stores, settings }, async ({ headwater, ends }) => {
    const measure = (sources: number, count: number) =>
      measureBusySources(headwater, ends, { sources, requests: count, senders: SENDERS });
    // Warm-up: what is measured is no process that has just begun.
    await measure(1, 300);
    const { sandbox, concurrency } = headwater.config;
    const given = `SANDBOX_PROCESSES ${sandbox.processes}, RUNS_CONCURRENCY ${concurrency.runs}`;
    return [
      busy("one busy HTTP source", await measure(1, requests), BUSY_PER_SECOND),
      busy(`200 sources at once, ${given}`, await measure(200, Math.round(requests / 2))),
    ];
  });
  report([...alone, ...busySources]);
}

function busy(what: string, figures: BusyFigures, aim?: number): SandboxFigure {
  const { runsPerSecond, acceptedPerSecond, cpu, refused } = figures;
  const others = Object.entries(refused).map(([reason, count]) => `, ${count} ${reason}`);
  return {
    what,
    measured:
      `${Math.round(runsPerSecond)} runs/s, ${Math.round(acceptedPerSecond)} accepted/s, ` +
      `${cpu.toFixed(2)} CPU s per 1,000${others.join("")}`,
    aim: aim === undefined ? "" : `>= ${aim}/s`,
    isMet: aim === undefined ? undefined : runsPerSecond >= aim,
  };
}

function report(figures: SandboxFigure[]): void {
  const verdict = (isMet: boolean | undefined) => (isMet === undefined ? "" : isMet ? "met" : "MISSED");
  console.log(table(figures.map(({ what, measured, aim, isMet }) => [what, measured, aim, verdict(isMet)])));
}

await runEntry(HELP, main);
