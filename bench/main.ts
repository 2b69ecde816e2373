import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Config } from "../src/config.ts";
import { aimsOf } from "./aims.ts";
import { runEntry } from "./entry.ts";
import { machineLine, machineOf } from "./machine.ts";
import { HELP, type Options, readOptions } from "./options.ts";
import { reportOf } from "./report.ts";
import { storesOfEnvironment } from "./stores.ts";
import { withHeadwater } from "./with-headwater.ts";
import { type Row, runWorkload } from "./workloads.ts";

async function main(args: string[]): Promise<void> {
  const { workloads, profile: name, json, settings, ...how } = readOptions(args);
  const stores = storesOfEnvironment();
  const machine = machineOf(stores);
  console.log(machineLine(machine));
  const profile =
    name === undefined ? undefined : { name, file: join(tmpdir(), `headwater-${name}.cpuprofile`) };
  const { rows, rates } = await withHeadwater(
    { stores, settings, ...(profile && { profile }) },
    async ({ headwater, ends, logFile }) => {
      const rates = ratesOf(headwater.config, how);
      console.log(`${rates}\nlogs: ${logFile}\n`);
      const rows: Row[] = [];
      const bench = { headwater, stores, ends, logFile, print: console.log, ...how };
      for (const workload of workloads) rows.push(...(await runWorkload(bench, workload)));
      return { rows, rates };
    },
  );
  const aims = aimsOf(rows);
  console.log(`\n${reportOf(rows, aims)}`);
  if (profile) console.log(`\nprofile: ${profile.file}`);
  if (json !== undefined)
    writeFileSync(json, `${JSON.stringify({ machine, rates, settings, rows, aims }, null, 2)}\n`);
}

/** Describes what the rates depend on: how events are sent, and the settings. */
function ratesOf(
  { concurrency, deliveries, sandbox }: Config,
  { senders, publish, raw }: Pick<Options, "senders" | "publish" | "raw">,
): string {
  const { runs, emissions, deliveries: atOnce } = concurrency;
  return (
    `${senders} senders, emissions ${publish}, raw limit ${raw}; concurrency: runs ${runs}, emissions ${emissions}, ` +
    `deliveries ${atOnce}, ${deliveries.perWebhook} per webhook; ${sandbox.processes} sandboxes`
  );
}

await runEntry(HELP, main);
