import type { Command } from "commander";
import { print, printJson } from "../output/print.ts";
import { type RemoteTools, remoteAction } from "../remote/remote-command.ts";
import { findEmitterId } from "../resources/find.ts";
import { traceLines } from "./print.ts";

interface Options {
  emitter?: string;
  json?: boolean;
}

const HELP = `
Where is my event? ID is an event id (from event_summaries), an emit id, or a delivery id (the webhook-id header that
the receiver saw). Beside an \`npm start\`, no settings are needed. docs/troubleshooting.md explains each line.

  headwater trace 1700000000000-0 --emitter dc_…
  headwater trace run_…-0
  headwater trace dlv_…`;

export function traceCommand(program: Command, tools: RemoteTools): void {
  const command = program
    .command("trace")
    .description("show what became of an event: emission, subscriptions, deliveries, attempts")
    .argument("<id>", "event id, emit id or delivery id")
    .option("--emitter <id>", "the source or workflow; required with an event id")
    .option("--json", "print the API's JSON")
    .addHelpText("after", HELP);
  remoteAction<Options>(command, tools, async ({ client, options }, id = "") => {
    const { emitter } = options;
    const emitterId = emitter === undefined ? undefined : await findEmitterId(client, emitter);
    const trace = await client.trace(id, emitterId);
    if (options.json) printJson(trace);
    else print(traceLines(trace).join("\n"));
  });
}
