import { Argument, type Command } from "commander";
import type { Schemas } from "../../../clients/typescript/src/index.ts";
import { AppError } from "../../lib/errors.ts";
import { askSecret, readTextFile, UsageError } from "../input.ts";
import { show, timeOf } from "../output.ts";
import { type RemoteTools, remoteAction } from "../remote/remote-command.ts";
import {
  type DeliverySettings,
  deliveryBodyOf,
  deliveryOptions,
  parseCount,
  type ReceiverFilters,
  receiverFields,
  receiverFilters,
  receiverFiltersOf,
  stateOf,
  testCommand,
  withSecretsNoted,
} from "./delivery-settings.ts";
import { DESTINATIONS, findDestination } from "./names.ts";
import { activeCommands, type Subject, subjectCommands, updateCommand } from "./subject.ts";

type Destination = Schemas["Destination"];
type Options = DeliverySettings & KindOptions;

const DESTINATION: Subject<Destination> = {
  word: "destination",
  given: "id or name",
  names: DESTINATIONS,
  find: findDestination,
  detailOf,
  update: (client, id, body) => withSecretsNoted(client.destinations.update(id, body)),
};

const HELP = `
An action is a destination too: headwater action deploy makes it. docs/destinations.md describes the kinds.

  headwater destination create redis_stream rediss://redis.example.com:6380 --stream orders --secret < password.txt
  headwater destination create rabbitmq amqps://rabbit.example.com/shop --username headwater --secret --queue orders
  headwater destination create pull --name inbox    # for headwater pull inbox
  headwater destination create s3 https://bucket.s3.eu-central-1.amazonaws.com --region eu-central-1 --access-key-id ID`;

/** Commands that see and change destinations, actions included (docs/destinations.md). */
export function destinationCommands(program: Command, tools: RemoteTools): void {
  subjectCommands(program, tools, DESTINATION, {
    description: "see and change streams, queues, buckets and actions, to which events are delivered",
    help: HELP,
    list: {
      description: "list the destinations, actions too",
      options: receiverFilters,
      read: (client, page, options: ReceiverFilters) =>
        client.destinations.list({ ...page, ...receiverFiltersOf(options) }),
      columns: {
        name: ({ name }) => name,
        id: ({ id }) => id,
        kind: ({ kind }) => kind,
        state: stateOf,
        url: ({ url }) => url,
      },
    },
    own(destination) {
      createCommand(destination, tools);
      updateCommand<Destination, Destination, Options>(destination, tools, DESTINATION, {
        description:
          "change what is given of a destination; another address removes its secret unless it is given again",
        options: command => kindOptions(deliveryOptions(command.option("--address <url>", ADDRESS))),
        async bodyOf(options, find) {
          const { kind } = await find();
          const settings = await settingsOf(kind, options);
          return { ...deliveryBodyOf(options), ...(settings && { [kind]: settings }) };
        },
      });
      activeCommands(destination, tools, DESTINATION);
      testCommand(destination, tools, DESTINATION, {
        description: "send a test event now; exit code 1 unless it is confirmed",
        send: (client, id) => client.destinations.test(id),
      });
    },
    delete: {
      description: "delete a destination with its subscriptions; what is pending is cancelled",
      remove: (client, id) => client.destinations.delete(id),
    },
  });
}

const ADDRESS = "address of the server or bucket, without a password";

function createCommand(destination: Command, tools: RemoteTools): void {
  const command = destination
    .command("create")
    .description("create a destination; a bucket's secret key is asked for")
    .addArgument(new Argument("<kind>", "what it is").choices(KINDS))
    .argument("[url]", `${ADDRESS}; none for pull`);
  remoteAction<Options>(
    kindOptions(deliveryOptions(command)),
    tools,
    async ({ client, options }, given = "", address = "") => {
      const kind = given as (typeof KINDS)[number];
      if ((address === "") !== (kind === "pull")) {
        throw new UsageError(kind === "pull" ? "url: pull has none" : `url: ${kind} needs one`);
      }
      const settings =
        (await settingsOf(kind, {
          ...options,
          ...(address !== "" && { address }),
          secret: options.secret || kind === "s3",
        })) ?? {};
      const created = await client.destinations.create({ ...deliveryBodyOf(options), [kind]: settings });
      show(created, options, detailOf);
    },
  );
}

function detailOf(destination: Destination): string {
  const { kind, url } = destination;
  const { url: _, ...settings } = (destination[kind] ?? {}) as Record<string, unknown>;
  const lines = Object.entries(settings).map(([name, value]) => [
    name.replaceAll("_", " "),
    shownSetting(name, value),
  ]);
  return receiverFields(destination, { kind, url, ...Object.fromEntries(lines) });
}

function shownSetting(name: string, value: unknown): unknown {
  if (Array.isArray(value)) return value.join(", ");
  return name.endsWith("_since") && typeof value === "number" ? timeOf(value * 1000) : value;
}

type Kind = Schemas["Destination"]["kind"];

/** The kinds whose settings are options; those of an action are its component and props. */
const KINDS = ["redis_stream", "rabbitmq", "s3", "pull"] as const satisfies Kind[];

/** The setting of each kind that is never shown. */
const SECRETS: Partial<Record<Kind, string>> = {
  redis_stream: "password",
  rabbitmq: "password",
  s3: "secret_access_key",
};

/** The settings that are options, by the option's name. */
const SETTINGS = {
  address: "url",
  username: "username",
  stream: "stream",
  maxLength: "max_length",
  queue: "queue",
  exchange: "exchange",
  routingKey: "routing_key",
  region: "region",
  accessKeyId: "access_key_id",
  objectKey: "key",
  ca: "ca",
} as const;

/** The settings of a destination that a command was given. */
interface KindOptions extends Partial<Record<keyof typeof SETTINGS, string | number>> {
  /** Whether its password or secret key is asked for. */
  secret?: boolean;
}

/** Adds the options of all kinds; the server names one that is not of the destination's kind. */
const kindOptions = (command: Command): Command =>
  command
    .option("--secret", "asks for its password or secret key; without a terminal, reads the standard input")
    .option("--username <name>", "redis_stream, rabbitmq: user name")
    .option("--ca <file>", "redis_stream, rabbitmq: file of certificates in PEM that are trusted")
    .option("--stream <key>", "redis_stream: key of the stream")
    .option("--max-length <n>", "redis_stream: about how many entries the stream keeps", parseCount)
    .option("--queue <name>", "rabbitmq: the queue, which exists")
    .option("--exchange <name>", "rabbitmq: the exchange, which exists")
    .option("--routing-key <key>", "rabbitmq: with --exchange")
    .option("--region <name>", "s3: such as eu-central-1")
    .option("--access-key-id <id>", "s3: id of the access key")
    .option("--object-key <pattern>", "s3: pattern of the objects' keys");

/**
 * Returns the settings that a command was given, with the secret that it asks for; null if there are none. An empty value
 * removes one. Throws AppError `invalid` that names an option.
 */
async function settingsOf(
  kind: Kind,
  options: KindOptions,
): Promise<Record<string, string | number | null> | null> {
  const given = Object.entries(SETTINGS).flatMap(([option, setting]) => {
    const value = options[option as keyof typeof SETTINGS];
    return value === undefined ? [] : [[setting, value === "" ? null : value] as const];
  });
  if (given.length === 0 && !options.secret) return null;
  const secret = SECRETS[kind];
  if (kind === "pull") throw new AppError("invalid", "a destination of kind pull has no settings");
  if (secret === undefined)
    throw new AppError("invalid", "headwater action deploy changes the component and the props of an action");
  const settings = Object.fromEntries(given);
  if (typeof settings.url === "string") checkAddress(settings.url);
  return {
    ...settings,
    ...(typeof settings.ca === "string" && { ca: await readTextFile(settings.ca) }),
    ...(options.secret && { [secret]: await askFor(secret) }),
  };
}

/** An argument is seen by the other users of a machine. */
function checkAddress(url: string): void {
  if (URL.canParse(url) && new URL(url).password !== "")
    throw new UsageError("url: give the password with --secret, where no other user of the machine sees it");
}

async function askFor(setting: string): Promise<string> {
  const what = setting.replaceAll("_", " ");
  return askSecret(`${what}, not shown: `, what);
}
