import type { Command } from "commander";
import type { Schemas } from "../../../clients/typescript/src/index.ts";
import { note, print, printJson, timeOf } from "../output/print.ts";
import { fields } from "../output/table.ts";
import { type RemoteTools, remoteAction } from "../remote/remote-command.ts";
import { jsonOption, listOptions } from "./list-options.ts";
import { type ListOptions, printRows } from "./print-rows.ts";
import { firstRows } from "./row-limit.ts";

type Connection = Schemas["Connection"];

const CONNECTION = "apn_…";

/** Commands that see and delete connections, and ask for an app's consent (docs/connections.md). */
export function connectionCommands(program: Command, tools: RemoteTools): void {
  const connection = program
    .command("connection")
    .description("see, make and delete connections: accounts of apps that sources use");
  remoteAction<ListOptions>(
    listOptions(connection.command("list").description("list the connections")),
    tools,
    async ({ client, options }) => {
      const rows = await firstRows(
        client.connections.list({ limit: Math.min(options.limit, 100) }),
        options.limit,
      );
      printRows(rows, options, {
        name: ({ name }) => name,
        id: ({ id }) => id,
        app: ({ app }) => app,
        health: ({ health }) => health,
        error: ({ error }) => error?.code ?? "",
      });
    },
  );
  remoteAction<{ json?: boolean }>(
    jsonOption(connection.command("show").description("show a connection").argument("<id>", CONNECTION)),
    tools,
    async ({ client, options }, id = "") => {
      const found = await client.connections.get(id);
      if (options.json) printJson(found);
      else print(detailOf(found));
    },
  );
  consentCommands(connection, tools);
  remoteAction<{ force?: boolean }>(
    connection
      .command("delete")
      .description("delete a connection")
      .argument("<id>", CONNECTION)
      .option("--force", "also if sources use it: their runs fail from then on"),
    tools,
    async ({ client, options }, id = "") => {
      await client.connections.delete(id, { force: options.force === true });
      print(`${id} was deleted here. Take the access back with the app, too.`);
    },
  );
}

function consentCommands(connection: Command, tools: RemoteTools): void {
  remoteAction<{ name?: string; json?: boolean }>(
    jsonOption(
      connection
        .command("connect")
        .description("ask for an app's consent; prints the address at which a person agrees")
        .argument("<app>", "slug of a registered app")
        .option("--name <name>", "label shown in lists"),
    ),
    tools,
    async ({ client, options: { name, json } }, app = "") => {
      const asked = await client.connections.connect({ app, ...(name !== undefined && { name }) });
      printConsent(asked, json);
    },
  );
  remoteAction<{ json?: boolean }>(
    jsonOption(
      connection
        .command("reconnect")
        .description("ask for an app's consent again")
        .argument("<id>", CONNECTION),
    ),
    tools,
    async ({ client, options }, id = "") =>
      printConsent(await client.connections.reconnect(id), options.json),
  );
}

function printConsent(asked: Schemas["Consent"], json = false): void {
  if (json) {
    printJson(asked);
    return;
  }
  note(
    `Open this address in a browser, until ${timeOf(asked.expires_at * 1000)}; the connection is ${asked.connection_id}:`,
  );
  print(asked.url);
}

const detailOf = ({
  id,
  name,
  app,
  kind,
  field_names,
  health,
  error,
  expires_at,
  refreshed_at,
}: Connection) =>
  fields({
    ...{ name, id, app, kind, fields: field_names.join(", "), health },
    ...(error && { error: `${error.message} (${timeOf(error.at * 1000)})` }),
    ...(expires_at !== null && { "token ends": timeOf(expires_at * 1000) }),
    ...(refreshed_at !== null && { renewed: timeOf(refreshed_at * 1000) }),
  });
