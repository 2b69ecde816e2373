import { type Command, InvalidArgumentError } from "commander";
import type { Schemas } from "../../../clients/typescript/src/index.ts";
import { UsageError } from "../input.ts";
import { note, print, printJson } from "../output.ts";
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
import { jsonOption, listCommand } from "./list.ts";
import { findWebhook, WEBHOOKS } from "./names.ts";
import { activeCommands, commandOn, deleteCommand, type Subject, showCommand } from "./subject.ts";

type Webhook = Schemas["Webhook"];

const WEBHOOK: Subject<Webhook> = {
  word: "webhook",
  given: "id or name",
  find: findWebhook,
  names: WEBHOOKS,
};

interface Settings extends DeliverySettings {
  header?: Record<string, string>;
}

export function webhookCommands(program: Command, tools: RemoteTools): void {
  const webhook = program
    .command("webhook")
    .description("see and change webhooks, to which events are delivered");
  listCommand(
    webhook.command("list").description("list the webhooks"),
    tools,
    (client, page) => client.webhooks.list(page),
    { name: ({ name }) => name, id: ({ id }) => id, state: stateOf, url: ({ url }) => url },
  );
  showCommand(webhook, tools, WEBHOOK, { detailOf });
  settingsCommands(webhook, tools);
  activeCommands(webhook, tools, WEBHOOK, (client, id, body) => client.webhooks.update(id, body));
  keyCommand(webhook, tools);
  testCommand(webhook, tools, WEBHOOK, {
    description: "send a signed test event now; exit code 1 unless it arrives",
    send: (client, id) => client.webhooks.test(id),
  });
  deleteCommand(webhook, tools, WEBHOOK, {
    description: "delete a webhook with its subscriptions; what is pending is cancelled",
    remove: (client, id) => client.webhooks.delete(id),
  });
}

function settingsCommands(webhook: Command, tools: RemoteTools): void {
  const create = webhook
    .command("create")
    .description("create a webhook; prints its signing key, which can't be shown again")
    .argument("<url>", "http or https address that events are sent to");
  remoteAction<Settings>(settingsOptions(create), tools, async ({ client, options }, url = "") => {
    const created = await client.webhooks.create({ url, ...bodyOf(options) });
    if (options.json) printJson(created);
    else print(`${detailOf(created)}\nsigning key    ${created.signing_key}  (not shown again)`);
  });
  const update = commandOn(webhook, "update", WEBHOOK, "change what is given of a webhook").option(
    "--address <url>",
    "where events are sent to",
  );
  remoteAction<Settings & { address?: string }>(
    settingsOptions(update),
    tools,
    async ({ client, options }, id = "") => {
      const { address } = options;
      const body = { ...bodyOf(options), ...(address !== undefined && { url: address }) };
      if (Object.keys(body).length === 0)
        throw new UsageError("nothing to change: give an option, see --help");
      const found = await findWebhook(client, id);
      const updated = await client.webhooks.update(found.id, body);
      noteSecretsRemoved(updated);
      if (options.json) printJson(updated);
      else print(detailOf(updated));
    },
  );
}

const settingsOptions = (command: Command): Command =>
  deliveryOptions(command).option(
    "--header <name: value>",
    "custom header of every request; may be repeated, replaces all of them",
    parseHeader,
  );

function parseHeader(text: string, earlier: Record<string, string> = {}): Record<string, string> {
  const [, name, value] = /^([^:\s]+):\s*(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined) throw new InvalidArgumentError('must be "name: value"');
  return { ...earlier, [name]: value };
}

const bodyOf = ({ header, ...settings }: Settings) => ({
  ...deliveryBodyOf(settings),
  ...(header !== undefined && { headers: header }),
});

function keyCommand(webhook: Command, tools: RemoteTools): void {
  const description = "replace the signing key; the old one signs too for 24 hours";
  const command = jsonOption(commandOn(webhook, "rotate-key", WEBHOOK, description));
  remoteAction<{ json?: boolean }>(command, tools, async ({ client, options }, id = "") => {
    const found = await findWebhook(client, id);
    const rotated = await client.webhooks.rotateSigningKey(found.id);
    if (options.json) return printJson(rotated);
    print(rotated.signing_key);
    note("It can't be shown again.");
  });
}

const detailOf = (webhook: Webhook): string =>
  receiverFields(webhook, { url: webhook.url, headers: webhook.header_names.join(", ") });
