import type { Command } from "commander";
import { note } from "./output.ts";
import { type RemoteTools, remoteAction } from "./remote/remote-command.ts";
import { type JsonOption, jsonOption, printRows } from "./resources/list.ts";

const HELP = `
TEXT is an id (a webhook-id, an event id or an emit id, too) or its beginning, a part of a name or an address, or words of a payload.

  headwater search dlv_…
  headwater search order-17`;

/** Finds what the account and its organizations own. */
export function searchCommand(program: Command, tools: RemoteTools): void {
  const command = program
    .command("search")
    .description("find things by id, name, address or words of a payload")
    .argument("<text>", "what to look for")
    .addHelpText("after", HELP);
  remoteAction<JsonOption>(jsonOption(command), tools, async ({ client, options }, text = "") => {
    const { hits: rows, partial } = await client.search(text);
    printRows(
      { rows, hasMore: false },
      { ...options, ids: true },
      {
        kind: ({ kind }) => kind.replaceAll("_", " "),
        name: ({ name }) => name,
        id: ({ id }) => id,
        detail: ({ detail }) => detail,
        state: ({ state }) => state,
      },
    );
    if (partial) note("There may be more: not everything was read in time.");
  });
}
