import type { Command } from "commander";
import type { Schemas } from "../../../clients/typescript/src/index.ts";
import { AppError } from "../../lib/errors.ts";
import { readTextFile, UsageError } from "../input.ts";
import { parseCount } from "./delivery-settings.ts";

type Kind = Schemas["Destination"]["kind"];

/** The kinds whose settings are options; those of an action are its component and props. */
export const KINDS = ["redis_stream", "rabbitmq", "s3"] as const satisfies Kind[];

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
export interface KindOptions extends Partial<Record<keyof typeof SETTINGS, string | number>> {
  /** Whether its password or secret key is asked for. */
  secret?: boolean;
}

/** Adds the options of all kinds; the server names one that is not of the destination's kind. */
export const kindOptions = (command: Command): Command =>
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
export async function settingsOf(
  kind: Kind,
  options: KindOptions,
): Promise<Record<string, string | number | null> | null> {
  const given = Object.entries(SETTINGS).flatMap(([option, setting]) => {
    const value = options[option as keyof typeof SETTINGS];
    return value === undefined ? [] : [[setting, value === "" ? null : value] as const];
  });
  if (given.length === 0 && !options.secret) return null;
  const secret = SECRETS[kind];
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
  const { askSecret } = await import("../remote/ask-secret.ts");
  const what = setting.replaceAll("_", " ");
  return askSecret(`${what}, not shown: `, what);
}
