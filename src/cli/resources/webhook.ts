import { type Command, InvalidArgumentError } from "commander";
import type { Schemas } from "../../../clients/typescript/src/index.ts";
import { AppError } from "../../lib/errors.ts";
import { note, print, printJson, timeOf } from "../output/print.ts";
import { fields } from "../output/table.ts";
import { type RemoteTools, remoteAction } from "../remote/remote-command.ts";
import { findWebhook } from "./find.ts";
import { jsonOption, listOptions } from "./list-options.ts";
import { type ListOptions, printRows } from "./print-rows.ts";
import { firstRows } from "./row-limit.ts";

type Webhook = Schemas["Webhook"];

const WEBHOOK = "id or name";

interface Settings {
  json?: boolean;
  name?: string;
  description?: string;
  header?: Record<string, string>;
  maxInFlight?: number;
  rateLimit?: number;
  ordered?: boolean;
}

export function webhookCommands(program: Command, tools: RemoteTools): void {
  const webhook = program
    .command("webhook")
    .description("see and change webhooks, to which events are delivered");
  remoteAction<ListOptions>(
    listOptions(webhook.command("list").description("list the webhooks")),
    tools,
    async ({ client, options }) => {
      const rows = await firstRows(
        client.webhooks.list({ limit: Math.min(options.limit, 100) }),
        options.limit,
      );
      printRows(rows, options, {
        name: ({ name }) => name,
        id: ({ id }) => id,
        state: stateOf,
        url: ({ url }) => url,
      });
    },
  );
  remoteAction<{ json?: boolean }>(
    jsonOption(webhook.command("show").description("show a webhook").argument("<webhook>", WEBHOOK)),
    tools,
    async ({ client, options }, id = "") => {
      const found = await findWebhook(client, id);
      if (options.json) printJson(found);
      else print(detailOf(found));
    },
  );
  settingsCommands(webhook, tools);
  activeCommands(webhook, tools);
  keyCommand(webhook, tools);
  testCommand(webhook, tools);
  remoteAction(
    webhook
      .command("delete")
      .description("delete a webhook with its subscriptions; what is pending is cancelled")
      .argument("<webhook>", WEBHOOK),
    tools,
    async ({ client }, id = "") => {
      const found = await findWebhook(client, id);
      await client.webhooks.delete(found.id);
      print(`${found.name ?? "The webhook"} (${found.id}) was deleted.`);
    },
  );
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
  const update = webhook
    .command("update")
    .description("change what is given of a webhook")
    .argument("<webhook>", WEBHOOK)
    .option("--address <url>", "where events are sent to");
  remoteAction<Settings & { address?: string }>(
    settingsOptions(update),
    tools,
    async ({ client, options }, id = "") => {
      const found = await findWebhook(client, id);
      const { address } = options;
      const body = { ...bodyOf(options), ...(address !== undefined && { url: address }) };
      if (Object.keys(body).length === 0) throw new AppError("invalid", "nothing to change: give an option");
      const updated = await client.webhooks.update(found.id, body);
      if (options.json) printJson(updated);
      else print(detailOf(updated));
    },
  );
}

const settingsOptions = (command: Command): Command =>
  jsonOption(command)
    .option("--name <name>", "label shown in lists")
    .option("--description <text>", "shown in lists")
    .option(
      "--header <name: value>",
      "custom header of every request; may be repeated, replaces all of them",
      parseHeader,
    )
    .option("--max-in-flight <n>", "deliveries in flight at once", parseCount)
    .option("--rate-limit <n>", "attempts started a second", parseCount)
    .option("--ordered", "one event at a time, in order")
    .option("--no-ordered", "as many at once as are allowed");

function parseHeader(text: string, earlier: Record<string, string> = {}): Record<string, string> {
  const [, name, value] = /^([^:\s]+):\s*(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined) throw new InvalidArgumentError('must be "name: value"');
  return { ...earlier, [name]: value };
}

function parseCount(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("must be an integer");
}

const bodyOf = ({ name, description, header, maxInFlight, rateLimit, ordered }: Settings) => ({
  ...(name !== undefined && { name }),
  ...(description !== undefined && { description }),
  ...(header !== undefined && { headers: header }),
  ...(maxInFlight !== undefined && { max_in_flight: maxInFlight }),
  ...(rateLimit !== undefined && { rate_limit_per_second: rateLimit }),
  ...(ordered !== undefined && { ordered }),
});

function activeCommands(webhook: Command, tools: RemoteTools): void {
  for (const [name, active] of [
    ["enable", true],
    ["disable", false],
  ] as const) {
    remoteAction(
      webhook.command(name).description(`${name} a webhook`).argument("<webhook>", WEBHOOK),
      tools,
      async ({ client }, id = "") => {
        const found = await findWebhook(client, id);
        await client.webhooks.update(found.id, { active });
        print(`${found.name ?? "The webhook"} (${found.id}) is ${active ? "active" : "disabled"}.`);
      },
    );
  }
}

function keyCommand(webhook: Command, tools: RemoteTools): void {
  const command = webhook
    .command("rotate-key")
    .description("replace the signing key; the old one signs too for 24 hours")
    .argument("<webhook>", WEBHOOK);
  remoteAction<{ json?: boolean }>(jsonOption(command), tools, async ({ client, options }, id = "") => {
    const found = await findWebhook(client, id);
    const rotated = await client.webhooks.rotateSigningKey(found.id);
    if (options.json) return printJson(rotated);
    print(rotated.signing_key);
    note("It can't be shown again.");
  });
}

function testCommand(webhook: Command, tools: RemoteTools): void {
  const command = webhook
    .command("test")
    .description("send a signed test event now; exit code 1 unless it arrives")
    .argument("<webhook>", WEBHOOK);
  remoteAction<{ json?: boolean }>(jsonOption(command), tools, async ({ client, options }, id = "") => {
    const found = await findWebhook(client, id);
    const result = await client.webhooks.test(found.id);
    if (options.json) printJson(result);
    else
      print(
        fields({
          status: result.status,
          ms: result.latency_ms,
          error: result.error,
          response: result.response,
        }),
      );
    if (result.error !== null) process.exitCode = 1;
  });
}

function stateOf({ active, failing_since, ordered }: Webhook): string {
  if (!active) return "disabled";
  if (failing_since !== null) return `failing since ${timeOf(failing_since * 1000)}`;
  return ordered ? "active, ordered" : "active";
}

function detailOf(webhook: Webhook): string {
  return fields({
    id: webhook.id,
    name: webhook.name,
    description: webhook.description,
    url: webhook.url,
    state: stateOf(webhook),
    "disabled because": webhook.disabled_reason ?? undefined,
    notice: webhook.notice ?? undefined,
    "max in flight": webhook.max_in_flight ?? "the server's default",
    "rate limit": webhook.rate_limit_per_second === null ? "none" : `${webhook.rate_limit_per_second}/s`,
    headers: webhook.header_names.join(", "),
    created: timeOf(webhook.created_at * 1000),
  });
}
