import type { Command } from "commander";
import type { Headwater } from "../../../clients/typescript/src/index.ts";
import { AppError } from "../../lib/errors.ts";
import { parseJsonOption } from "../json-option.ts";
import { print, printJson } from "../output/print.ts";
import { fields } from "../output/table.ts";
import { type RemoteTools, remoteAction } from "../remote/remote-command.ts";
import { findEmitterId, findWebhook } from "./find.ts";
import { jsonOption, listOptions } from "./list-options.ts";
import { type ListOptions, printRows } from "./print-rows.ts";
import { firstRows } from "./row-limit.ts";

interface CreateOptions {
  json?: boolean;
  channel?: string;
  filter?: { value: unknown };
}

export function subscriptionCommands(program: Command, tools: RemoteTools): void {
  const subscription = program
    .command("subscription")
    .description("see and change which listener gets which events");
  remoteAction<ListOptions>(
    listOptions(subscription.command("list").description("list the subscriptions")),
    tools,
    async ({ client, options }) => {
      const list = client.subscriptions.list({ limit: Math.min(options.limit, 100) });
      printRows(await firstRows(list, options.limit), options, {
        id: ({ id }) => id,
        emitter: ({ emitter_id }) => emitter_id,
        channel: ({ event_name }) => event_name,
        listener: ({ listener_id }) => listener_id,
        filter: ({ filter }) => filter,
      });
    },
  );
  createCommand(subscription, tools);
  remoteAction(
    subscription.command("delete").description("end a subscription").argument("<id>", "sub_…"),
    tools,
    async ({ client }, id = "") => {
      await client.subscriptions.delete(id);
      print(`${id} was deleted.`);
    },
  );
}

function createCommand(subscription: Command, tools: RemoteTools): void {
  const command = subscription
    .command("create")
    .description("subscribe a listener to an emitter; one that exists stays as it is")
    .argument("<emitter>", "source (id or name slug), workflow (p_…), account (u_… or o_…), 'dc_*' or 'p_*'")
    .argument("<listener>", "webhook (id or name), destination (ds_…, ac_…), source (dc_…) or workflow (p_…)")
    .option("--channel <name>", "channel, $errors, $logs or $alerts (default: the default channel)")
    .option("--filter <json>", "only events that match (docs/filters.md)", parseJsonOption);
  remoteAction<CreateOptions>(
    jsonOption(command),
    tools,
    async ({ client, options }, emitter = "", listener = "") => {
      const created = await client.subscriptions.create({
        emitter_id: /^[uo]_/.test(emitter) ? emitter : await findEmitterId(client, emitter),
        listener_id: await findListenerId(client, listener),
        ...(options.channel !== undefined && { event_name: options.channel }),
        ...(options.filter !== undefined && { filter: filterOf(options.filter.value) }),
      });
      if (options.json) printJson(created);
      else
        print(
          fields({
            id: created.id,
            emitter: created.emitter_id,
            listener: created.listener_id,
            channel: created.event_name,
          }),
        );
    },
  );
}

function filterOf(value: unknown): Record<string, unknown> {
  if (typeof value === "object" && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw new AppError("invalid", "--filter: must be a JSON object");
}

async function findListenerId(client: Headwater, idOrName: string): Promise<string> {
  if (/^(p|dc|ds|ac)_/.test(idOrName)) return idOrName;
  return (await findWebhook(client, idOrName)).id;
}
