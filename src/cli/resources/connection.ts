import type { Command } from "commander";
import type { Schemas } from "../../../clients/typescript/src/index.ts";
import {
  type EventRuleOptions,
  eventRuleOptions,
  eventRulesOf,
  readObjectFile,
  UsageError,
  verifyOption,
} from "../input.ts";
import { fields, note, print, printJson, show, timeOf } from "../output.ts";
import { type RemoteTools, remoteAction } from "../remote/remote-command.ts";
import { type JsonOption, jsonOption, printRows, type SearchOption, searchOption, textOf } from "./list.ts";
import { APPS, CONNECTIONS, NamedArgument } from "./names.ts";
import { privateAddressesCommand } from "./private-addresses.ts";
import { commandOn, type Subject, subjectCommands, updateCommand } from "./subject.ts";

type Connection = Schemas["Connection"];

const CONNECTION: Subject<Connection> = {
  word: "connection",
  given: "apn_…",
  names: CONNECTIONS,
  isById: true,
  find: (client, id) => client.connections.get(id),
  detailOf,
  update: (client, id, body) => client.connections.update(id, body),
};

/** Commands that see and delete connections, and ask for an app's consent (docs/connections.md). */
export function connectionCommands(program: Command, tools: RemoteTools): void {
  subjectCommands(program, tools, CONNECTION, {
    description: "see, make and delete connections: accounts of apps that sources use",
    list: {
      description: "list the connections",
      options: searchOption,
      read: (client, page, options: SearchOption) => client.connections.list({ ...page, ...textOf(options) }),
      columns: {
        name: ({ name }) => name,
        id: ({ id }) => id,
        app: ({ app }) => app,
        health: ({ health }) => health,
        error: ({ error }) => error?.code ?? "",
      },
    },
    own(connection) {
      appsCommand(connection, tools);
      fieldCommands(connection, tools);
      consentCommands(connection, tools);
      replaceCommands(connection, tools);
      privateAddressesCommand(connection, tools);
    },
    delete: {
      description: "delete a connection",
      options: command =>
        command.option("--force", "also if sources or actions use it: their runs fail from then on"),
      remove: (client, id, { force }) => client.connections.delete(id, { force: force === true }),
      done: id => `${id} was deleted here. Take the access back with the app, too.`,
    },
  });
}

function appsCommand(connection: Command, tools: RemoteTools): void {
  const command = connection
    .command("apps")
    .description("list the apps that can be connected by their consent");
  remoteAction<JsonOption>(jsonOption(command), tools, async ({ client, options }) => {
    const { data: rows } = await client.connections.apps();
    printRows({ rows, hasMore: false }, options, {
      app: ({ slug }) => slug,
      name: ({ name }) => name,
      scopes: ({ scopes }) => scopes.join(" "),
    });
  });
}

interface FieldOptions extends EventRuleOptions, JsonOption {
  name?: string;
  fields?: string;
  appEvents?: boolean;
  verify?: string;
  appVerify?: boolean;
}

const FIELDS = "JSON file with what runs find in $auth, by name; - is the standard input";

/** Fields come from a file: an argument is seen by the other users of a machine. */
function fieldCommands(connection: Command, tools: RemoteTools): void {
  const create = connection
    .command("create")
    .description("make a connection of fields such as an API key, which are never shown again")
    .addArgument(new NamedArgument("<app>", "slug of the app, as components name it", APPS))
    .requiredOption("--fields <file>", FIELDS)
    .option("--name <name>", "label shown in lists");
  const created = jsonOption(verifyOption(eventRuleOptions(create)));
  remoteAction<FieldOptions>(created, tools, async ({ client, options }, app = "") => {
    const fields = await readFields(options.fields ?? "");
    show(await client.connections.create({ app, fields, ...(await bodyOf(options)) }), options, detailOf);
  });
  updateCommand<Connection, Connection, FieldOptions>(connection, tools, CONNECTION, {
    description: "rename a connection, or replace its fields or how its app's events are read and verified",
    options: command =>
      jsonOption(
        verifyOption(
          eventRuleOptions(
            command.option("--fields <file>", FIELDS).option("--name <name>", "label shown in lists"),
          ),
        )
          .option(
            "--app-events",
            "read events as the operator says for the app, not by rules of this connection",
          )
          .option("--app-verify", "verify requests as the operator says for the app, and not more strictly"),
      ),
    async bodyOf(options) {
      const { fields: file, appEvents = false, appVerify = false } = options;
      if (appEvents && eventRulesOf(options)) {
        throw new UsageError("--app-events: goes without --event-name, --event and --challenge");
      }
      if (appVerify && options.verify !== undefined) {
        throw new UsageError("--app-verify: goes without --verify");
      }
      return {
        ...(await bodyOf(options)),
        ...(appEvents && { events: null }),
        ...(appVerify && { verify: null }),
        ...(file !== undefined && { fields: await readFields(file) }),
      };
    },
  });
}

const readFields = async (file: string) =>
  (await readObjectFile(file, "fields by name")) as Record<string, string>;

async function bodyOf(options: FieldOptions) {
  const { name, verify } = options;
  const events = eventRulesOf(options);
  return {
    ...(name !== undefined && { name }),
    ...(events && { events }),
    ...(verify !== undefined && { verify: await readObjectFile(verify, "a preset or a rule, and secrets") }),
  };
}

function consentCommands(connection: Command, tools: RemoteTools): void {
  remoteAction<{ name?: string; json?: boolean }>(
    jsonOption(
      connection
        .command("connect")
        .description("ask for an app's consent; prints the address at which a person agrees")
        .addArgument(new NamedArgument("<app>", "slug of a registered app", APPS))
        .option("--name <name>", "label shown in lists"),
    ),
    tools,
    async ({ client, options: { name, json } }, app = "") => {
      const asked = await client.connections.connect({ app, ...(name !== undefined && { name }) });
      printConsent(asked, json);
    },
  );
  remoteAction<JsonOption>(
    jsonOption(commandOn(connection, "reconnect", CONNECTION, "ask for an app's consent again")),
    tools,
    async ({ client, options }, id = "") =>
      printConsent(await client.connections.reconnect(id), options.json),
  );
}

/** Commands that replace the token, and the address of the app's events. */
function replaceCommands(connection: Command, tools: RemoteTools): void {
  const renew = commandOn(connection, "renew", CONNECTION, "renew the token now, although it has time left");
  remoteAction<JsonOption>(jsonOption(renew), tools, async ({ client, options }, id = "") =>
    show(await client.connections.renew(id), options, detailOf),
  );
  const rotate = commandOn(
    connection,
    "rotate-endpoint",
    CONNECTION,
    "replace the address of its app's events; the old one works for 24 more hours",
  );
  remoteAction<JsonOption>(jsonOption(rotate), tools, async ({ client, options }, id = "") => {
    const rotated = await client.connections.rotateEndpoint(id);
    if (options.json) return printJson(rotated);
    print(rotated.endpoint_url ?? "");
    note("Give this address to the app within 24 hours: then the old one ends.");
  });
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

function detailOf(connection: Connection): string {
  const { name, id, app, kind, field_names, health, error, expires_at, refreshed_at } = connection;
  const { endpoint_url, events, private_addresses } = connection;
  return fields({
    ...{ name, id, app, kind, fields: field_names.join(", "), health },
    ...(error && { error: `${error.message} (${timeOf(error.at * 1000)})` }),
    ...(expires_at !== null && { "token ends": timeOf(expires_at * 1000) }),
    ...(refreshed_at !== null && { renewed: timeOf(refreshed_at * 1000) }),
    ...(endpoint_url !== null && { "events arrive at": endpoint_url }),
    ...(private_addresses.length > 0 && { "private addresses": private_addresses.join(", ") }),
    ...(events && {
      "event names": events.names?.join(", "),
      event: events.event ?? "{{body}}",
      challenge: events.challenge,
    }),
  });
}
