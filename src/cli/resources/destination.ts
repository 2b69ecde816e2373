import { Argument, type Command } from "commander";
import type { Schemas } from "../../../clients/typescript/src/index.ts";
import { UsageError } from "../input.ts";
import { print, printJson } from "../output.ts";
import { type RemoteTools, remoteAction } from "../remote/remote-command.ts";
import {
  type DeliverySettings,
  deliveryBodyOf,
  deliveryOptions,
  noteSecretsRemoved,
  receiverFields,
  stateOf,
  testCommand,
} from "./delivery-settings.ts";
import { KINDS, type KindOptions, kindOptions, settingsOf } from "./destination-settings.ts";
import { findDestination } from "./find.ts";
import { listCommand } from "./list-command.ts";
import { DESTINATIONS } from "./names.ts";
import { activeCommands, commandOn, deleteCommand, type Subject, showCommand } from "./subject.ts";

type Destination = Schemas["Destination"];
type Options = DeliverySettings & KindOptions;

const DESTINATION: Subject<Destination> = {
  word: "destination",
  given: "id or name",
  find: findDestination,
  names: DESTINATIONS,
};

const HELP = `
An action is a destination too: headwater action deploy makes it. docs/destinations.md describes the kinds.

  headwater destination create redis_stream rediss://redis.example.com:6380 --stream orders --secret < password.txt
  headwater destination create rabbitmq amqps://rabbit.example.com/shop --username headwater --secret --queue orders
  headwater destination create s3 https://bucket.s3.eu-central-1.amazonaws.com --region eu-central-1 --access-key-id ID`;

/** Commands that see and change destinations, actions included (docs/destinations.md). */
export function destinationCommands(program: Command, tools: RemoteTools): void {
  const destination = program
    .command("destination")
    .description("see and change streams, queues, buckets and actions, to which events are delivered")
    .addHelpText("after", HELP);
  listCommand(
    destination.command("list").description("list the destinations, actions too"),
    tools,
    (client, page) => client.destinations.list(page),
    {
      name: ({ name }) => name,
      id: ({ id }) => id,
      kind: ({ kind }) => kind,
      state: stateOf,
      url: ({ url }) => url,
    },
  );
  showCommand(destination, tools, DESTINATION, { detailOf });
  createCommand(destination, tools);
  updateCommand(destination, tools);
  activeCommands(destination, tools, DESTINATION, (client, id, body) => client.destinations.update(id, body));
  testCommand(destination, tools, DESTINATION, {
    description: "send a test event now; exit code 1 unless it is confirmed",
    send: (client, id) => client.destinations.test(id),
  });
  deleteCommand(destination, tools, DESTINATION, {
    description: "delete a destination with its subscriptions; what is pending is cancelled",
    remove: (client, id) => client.destinations.delete(id),
  });
}

function createCommand(destination: Command, tools: RemoteTools): void {
  const command = destination
    .command("create")
    .description("create a destination; a bucket's secret key is asked for")
    .addArgument(new Argument("<kind>", "what it is").choices(KINDS))
    .argument("<url>", "address of the server or bucket, without a password");
  remoteAction<Options>(
    kindOptions(deliveryOptions(command)),
    tools,
    async ({ client, options }, given = "", address = "") => {
      const kind = given as (typeof KINDS)[number];
      const settings = await settingsOf(kind, {
        ...options,
        address,
        secret: options.secret || kind === "s3",
      });
      const created = await client.destinations.create({ ...deliveryBodyOf(options), [kind]: settings });
      show(created, options);
    },
  );
}

function updateCommand(destination: Command, tools: RemoteTools): void {
  const command = commandOn(
    destination,
    "update",
    DESTINATION,
    "change what is given of a destination; another address removes its secret unless it is given again",
  ).option("--address <url>", "address of the server or bucket, without a password");
  remoteAction<Options>(
    kindOptions(deliveryOptions(command)),
    tools,
    async ({ client, options }, given = "") => {
      const { id, kind } = await findDestination(client, given);
      const settings = await settingsOf(kind, options);
      const body = { ...deliveryBodyOf(options), ...(settings && { [kind]: settings }) };
      if (Object.keys(body).length === 0)
        throw new UsageError("nothing to change: give an option, see --help");
      const updated = await client.destinations.update(id, body);
      noteSecretsRemoved(updated);
      show(updated, options);
    },
  );
}

function show(destination: Destination, { json }: { json?: boolean }): void {
  if (json) printJson(destination);
  else print(detailOf(destination));
}

function detailOf(destination: Destination): string {
  const { kind, url } = destination;
  const { url: _, ...settings } = (destination[kind] ?? {}) as Record<string, unknown>;
  const lines = Object.entries(settings).map(([name, value]) => [
    name.replaceAll("_", " "),
    Array.isArray(value) ? value.join(", ") : value,
  ]);
  return receiverFields(destination, { kind, url, ...Object.fromEntries(lines) });
}
