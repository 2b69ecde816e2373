import type { Command } from "commander";
import { type JsonText, stringifyJson } from "../lib/json-text.ts";
import { parseJsonOption, readJsonText, UsageError } from "./input.ts";
import { printJson } from "./output.ts";
import { type RemoteTools, remoteAction } from "./remote/remote-command.ts";
import { EMITTERS, findEmitterId, NamedArgument } from "./resources/names.ts";

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

/** What `headwater publish` was given. */
export interface Given {
  event?: JsonText;
  file?: string;
  name?: string;
  id?: string;
}

/**
 * Returns the text of the body of the request: what a file has, or one event with its fields. Throws UsageError unless exactly one of
 * the two is given.
 */
async function readPublication({ event, file, name, id }: Given): Promise<string> {
  if ((event === undefined) === (file === undefined)) {
    throw new UsageError("--event, --file: exactly one of them is needed");
  }
  if (event) return stringifyJson({ event, name, id });
  if (name !== undefined || id !== undefined) {
    throw new UsageError(`--${name === undefined ? "id" : "name"}: goes with --event; a file has its own`);
  }
  return (await readJsonText(file ?? "")).text;
}
