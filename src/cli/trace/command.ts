import type { Command } from "commander";
import type { EventTrace } from "../../events/trace-schema.ts";
import { type ApiAccess, type ApiOptions, apiAccessOf, apiOptions, openApi } from "../api.ts";
import { traceLines } from "./print.ts";

interface Options extends ApiOptions {
  emitter?: string;
  json?: boolean;
}

const HELP = `
Where is my event? ID is an event id (from event_summaries), an emit id, or a delivery id (the webhook-id header that
the receiver saw). Beside an \`npm start\`, no settings are needed. docs/troubleshooting.md explains each line.

  headwater trace 1700000000000-0 --emitter dc_…
  headwater trace run_…-0
  headwater trace dlv_…`;

export function traceCommand(program: Command, developmentStart: () => Promise<Partial<ApiAccess>>): void {
  const command = program
    .command("trace")
    .description("show what became of an event: emission, subscriptions, deliveries, attempts")
    .argument("<id>", "event id, emit id or delivery id")
    .option("--emitter <id>", "the source or workflow; required with an event id")
    .option("--json", "print the API's JSON")
    .addHelpText("after", HELP);
  apiOptions(command).action(async (id: string, options: Options) => {
    const access = apiAccessOf(options, await developmentStart());
    const api = await openApi(access, `Headwater/${program.version()}`);
    try {
      const query = options.emitter ? `?emitter_id=${encodeURIComponent(options.emitter)}` : "";
      const { data } = await api.request<{ data: EventTrace }>(
        "GET",
        `/events/${encodeURIComponent(id)}${query}`,
      );
      const text = options.json ? JSON.stringify(data, null, 2) : traceLines(data).join("\n");
      process.stdout.write(`${text}\n`);
    } finally {
      await api.close();
    }
  });
}
