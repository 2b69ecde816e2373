import type { Command } from "commander";
import { type ApiAccess, type ApiOptions, apiAccessOf, apiOptions, openApi } from "../api.ts";
import { parseJsonOption } from "../json-option.ts";
import { readPublication } from "./read-publication.ts";

interface Options extends ApiOptions {
  event?: { value: unknown };
  file?: string;
  name?: string;
  id?: string;
}

const HELP = `
Publishes through the API; beside an \`npm start\`, no settings are needed. A file has one event {"event": …, "id": …} or
a batch {"events": […]} (docs/rest-api.md#publish); - is the standard input.

  headwater publish p_… --event '{"n": 1}'
  headwater publish p_… --file events.json`;

export function publishCommand(program: Command, developmentStart: () => Promise<Partial<ApiAccess>>): void {
  const command = program
    .command("publish")
    .description("publish events as a workflow or source, over HTTP; prints their emit ids")
    .argument("<workflow or source>", "p_… or dc_…")
    .option("--event <json>", "one event, any JSON value", parseJsonOption)
    .option("--file <file>", "a JSON file with the body of the request; - for the standard input")
    .option("--name <channel>", "with --event: its channel")
    .option("--id <id>", "with --event: its identity")
    .addHelpText("after", HELP);
  apiOptions(command).action(async (emitterId: string, options: Options) => {
    const body = await readPublication(options);
    const access = apiAccessOf(options, await developmentStart());
    const api = await openApi(access, `Headwater/${program.version()}`);
    try {
      const kind = emitterId.startsWith("p_") ? "workflows" : "sources";
      const path = `/${kind}/${encodeURIComponent(emitterId)}/events`;
      const { data } = await api.request<{ data: unknown }>("POST", path, body);
      process.stdout.write(`${JSON.stringify(data, null, 2)}\n`);
    } finally {
      await api.close();
    }
  });
}
