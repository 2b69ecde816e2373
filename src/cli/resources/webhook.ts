import { type Command, InvalidArgumentError, Option } from "commander";
import type { Schemas } from "../../../clients/typescript/src/index.ts";
import { readTextFile } from "../input.ts";
import { note, print, printJson, show } from "../output.ts";
import { type RemoteTools, remoteAction } from "../remote/remote-command.ts";
import {
  type DeliverySettings,
  deliveryBodyOf,
  deliveryOptions,
  type ReceiverFilters,
  receiverFields,
  receiverFilters,
  receiverFiltersOf,
  stateOf,
  testCommand,
  withSecretsNoted,
} from "./delivery-settings.ts";
import { formatOption } from "./format-option.ts";
import { type JsonOption, jsonOption } from "./list.ts";
import { findWebhook, WEBHOOKS } from "./names.ts";
import {
  activeCommands,
  commandOn,
  type Subject,
  subjectCommands,
  thingAction,
  updateCommand,
} from "./subject.ts";

type Webhook = Schemas["Webhook"];

const WEBHOOK: Subject<Webhook> = {
  word: "webhook",
  given: "id or name",
  names: WEBHOOKS,
  find: findWebhook,
  detailOf,
  update: (client, id, body) => withSecretsNoted(client.webhooks.update(id, body)),
};

interface Settings extends DeliverySettings {
  header?: Record<string, string>;
  format?: Webhook["format"];
}

/** What says which key is to sign. */
interface KeyOptions extends JsonOption {
  signing?: Webhook["signing"];
  signingKey?: string;
}

const keyOptions = (command: Command): Command =>
  command
    .addOption(
      new Option("--signing <kind>", "how requests are signed (default: hmac, or as before)").choices([
        "hmac",
        "ed25519",
      ]),
    )
    .option("--signing-key <file>", "file with a signing key of your own; - is the standard input");

/** Returns the field of a request that brings a key along. From a file: arguments are seen by other users of the machine. */
const keyBodyOf = async ({ signing, signingKey }: KeyOptions) => ({
  ...(signing !== undefined && { signing }),
  ...(signingKey !== undefined && { signing_key: (await readTextFile(signingKey)).trim() }),
});

export function webhookCommands(program: Command, tools: RemoteTools): void {
  subjectCommands(program, tools, WEBHOOK, {
    description: "see and change webhooks, to which events are delivered",
    list: {
      description: "list the webhooks",
      options: receiverFilters,
      read: (client, page, options: ReceiverFilters) =>
        client.webhooks.list({ ...page, ...receiverFiltersOf(options) }),
      columns: { name: ({ name }) => name, id: ({ id }) => id, state: stateOf, url: ({ url }) => url },
    },
    own(webhook) {
      createCommand(webhook, tools);
      updateCommand<Webhook, Webhook, Settings & { address?: string }>(webhook, tools, WEBHOOK, {
        description: "change what is given of a webhook",
        options: command => settingsOptions(command.option("--address <url>", "where events are sent to")),
        bodyOf: ({ address, ...settings }) => ({
          ...bodyOf(settings),
          ...(address !== undefined && { url: address }),
        }),
      });
      activeCommands(webhook, tools, WEBHOOK);
      keyCommand(webhook, tools);
      testCommand(webhook, tools, WEBHOOK, {
        description: "send a signed test event now; exit code 1 unless it arrives",
        send: (client, id) => client.webhooks.test(id),
      });
    },
    delete: {
      description: "delete a webhook with its subscriptions; what is pending is cancelled",
      remove: (client, id) => client.webhooks.delete(id),
    },
  });
}

function createCommand(webhook: Command, tools: RemoteTools): void {
  const create = webhook
    .command("create")
    .description("create a webhook; prints its signing key, which can't be shown again")
    .argument("<url>", "http or https address that events are sent to");
  const command = keyOptions(settingsOptions(create));
  remoteAction<Settings & KeyOptions>(command, tools, async ({ client, options }, url = "") => {
    const key = await keyBodyOf(options);
    const created = await client.webhooks.create({ url, ...bodyOf(options), ...key });
    show(
      created,
      options,
      () => `${detailOf(created)}\nsigning key    ${created.signing_key}${noteOf(created)}`,
    );
  });
}

const settingsOptions = (command: Command): Command =>
  deliveryOptions(command)
    .option(
      "--header <name: value>",
      "custom header of every request; may be repeated, replaces all of them",
      parseHeader,
    )
    .addOption(formatOption("the body of requests (default: json, or as before)"));

function parseHeader(text: string, earlier: Record<string, string> = {}): Record<string, string> {
  const [, name, value] = /^([^:\s]+):\s*(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined) throw new InvalidArgumentError('must be "name: value"');
  return { ...earlier, [name]: value };
}

const bodyOf = ({ header, format, ...settings }: Settings) => ({
  ...deliveryBodyOf(settings),
  ...(format !== undefined && { format }),
  ...(header !== undefined && { headers: header }),
});

function keyCommand(webhook: Command, tools: RemoteTools): void {
  const description = "replace the signing key; the old one signs too for 24 hours";
  const command = keyOptions(jsonOption(commandOn(webhook, "rotate-key", WEBHOOK, description)));
  thingAction<Webhook, KeyOptions>(command, tools, WEBHOOK, async ({ id }, { client, options }) => {
    const rotated = await client.webhooks.rotateSigningKey(id, await keyBodyOf(options));
    if (options.json) return printJson(rotated);
    print(rotated.signing_key);
    if (isShownOnce(rotated)) note("It can't be shown again.");
  });
}

/** The public part of a key pair is not a secret. */
const isShownOnce = ({ signing }: Webhook): boolean => signing === "hmac";
const noteOf = (webhook: Webhook) => (isShownOnce(webhook) ? "  (not shown again)" : "");

function detailOf(webhook: Webhook): string {
  const { url, format, header_names, signing, public_key } = webhook;
  const signed = public_key === null ? signing : `${signing}, ${public_key}`;
  return receiverFields(webhook, { url, format, headers: header_names.join(", "), signed });
}
