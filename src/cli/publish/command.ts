import type { Command } from "commander";
import type { JsonText } from "../../lib/json-text.ts";
import { parseJsonOption } from "../json-option.ts";
import { printJson } from "../output/print.ts";
import { type RemoteTools, remoteAction } from "../remote/remote-command.ts";
import { findEmitterId } from "../resources/find.ts";
import { EMITTERS, NamedArgument } from "../resources/names.ts";
import { readPublication } from "./read-publication.ts";

interface Options {
  event?: JsonText;
  file?: string;
  name?: string;
  id?: string;
}

const HELP = `
Publishes through the API; beside an \`npm start\`, no settings are needed. A file has one event {"event": …, "id": …} or
a batch {"events": […]} (docs/rest-api.md#publish); - is the standard input.

  headwater workflow create shop
  headwater publish shop --event '{"n": 1}'
  headwater publish shop --file events.json`;

export function publishCommand(program: Command, tools: RemoteTools): void {
  const command = program
    .command("publish")
    .description("publish events as a workflow or source, over HTTP; prints their emit ids")
    .addArgument(
      new NamedArgument(
        "<workflow or source>",
        "workflow (id or name) or source (id or name slug)",
        EMITTERS,
      ),
    )
    .option("--event <json>", "one event, any JSON value", parseJsonOption)
    .option("--file <file>", "a JSON file with the body of the request; - for the standard input")
    .option("--name <channel>", "with --event: its channel")
    .option("--id <id>", "with --event: its identity")
    .addHelpText("after", HELP);
  remoteAction<Options>(command, tools, async ({ client, options }, emitter = "") => {
    // The server checks what a file has.
    const body = await readPublication(options);
    printJson(await client.publish(await findEmitterId(client, emitter), body));
  });
}
