import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Config } from "../src/config.ts";
import { aimsOf, timerAims } from "./aims.ts";
import { runEntry } from "./entry.ts";
import { machineLine, machineOf } from "./machine.ts";
import { installNode } from "./node-binary.ts";
import { HELP, type Options, readOptions } from "./options.ts";
import { installPeers } from "./peers/peers.ts";
import { reportOf } from "./report.ts";
import { storesOfEnvironment } from "./stores.ts";
import { measureTimers, TIMER_FORMS, type TimerFigures } from "./timers.ts";
import { withHeadwater } from "./with-headwater.ts";
import { isComparedWithPeers, type Row, runWorkload } from "./workloads.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

async function main(args: string[]): Promise<void> {
  const options = readOptions(args);
  const { workloads, profile: name, json, settings, node: version, small, peers: names, ...how } = options;
  const stores = storesOfEnvironment();
  const machine = machineOf(stores);
  const node = version === undefined ? undefined : installNode(root, version);
  console.log(machineLine(machine) + (node ? `; measured processes: Node ${node.version}` : ""));
  if (small) console.log("as npm start runs it: web, and one process for all queues (Procfile.small)");
  const peers = await installPeers(root, names, console.log);
  const profile =
    name === undefined ? undefined : { name, file: join(tmpdir(), `headwater-${name}.cpuprofile`) };
  const { rows, timers, rates } = await withHeadwater(
    { stores, settings, small, nodePath: node?.path, ...(profile && { profile }) },
    async ({ headwater, ends, logFile }) => {
      const rates = ratesOf(headwater.config, how);
      console.log(`${rates}\nlogs: ${logFile}\n`);
      const rows: Row[] = [];
      const bench = {
        headwater,
        stores,
        ends,
        logFile,
        nodePath: node?.path,
        peers,
        print: console.log,
        ...how,
      };
      const timers: TimerFigures[] = [];
      for (const workload of workloads) {
        if (workload !== "W7") rows.push(...(await runWorkload(bench, workload)));
        else for (const form of TIMER_FORMS) timers.push(await measureTimers(bench, form, how.timers));
      }
      return { rows, timers, rates };
    },
  );
  const aims = [...(rows.length > 0 ? aimsOf(rows) : []), ...timerAims(timers)];
  console.log(`\n${reportOf(rows, timers, aims)}`);
  if (profile) console.log(`\nprofile: ${profile.file}`);
  if (json !== undefined)
    writeFileSync(
      json,
      `${JSON.stringify({ machine, measuredNode: node?.version ?? machine.node, small, rates, settings, rows, timers, aims }, null, 2)}\n`,
    );
  const compared = rows.filter(({ workload }) => isComparedWithPeers(workload));
  if (compared.some(row => (row.peers ?? []).length < names.length)) process.exitCode = 1;
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
