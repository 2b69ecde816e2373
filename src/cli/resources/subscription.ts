import type { Command } from "commander";
import type { Headwater, Schemas } from "../../../clients/typescript/src/index.ts";
import {
  type Confirmed,
  confirmDeletion,
  parseObjectOption,
  readTextFile,
  UsageError,
  yesOption,
} from "../input.ts";
import { fields, placeOf, plain, print, printJson, timeOf } from "../output.ts";
import { type RemoteTools, remoteAction } from "../remote/remote-command.ts";
import { jsonOption, listCommand } from "./list.ts";
import {
  EMITTERS,
  findEmitterId,
  findReceiver,
  isDestinationId,
  LISTENERS,
  NamedArgument,
  SUBSCRIPTIONS,
} from "./names.ts";
import { commandOn, type Subject, showCommand } from "./subject.ts";
import { subscriptionTestCommand } from "./subscription-test.ts";

type Subscription = Schemas["Subscription"];

interface ChangeOptions {
  json?: boolean;
  channel?: string;
  filter?: Record<string, unknown>;
  /** A file; false for none. */
  function?: string | false;
}

const SUBSCRIPTION: Subject<Subscription> = {
  word: "subscription",
  given: "sub_…",
  find: (client, id) => client.subscriptions.get(id),
  names: SUBSCRIPTIONS,
};
const FILTER = "only events that match (docs/filters.md); {} is none";
const FUNCTION = "file with the code that each event goes through (docs/functions.md)";

export function subscriptionCommands(program: Command, tools: RemoteTools): void {
  const subscription = program
    .command("subscription")
    .description("see and change which listener gets which events");
  listCommand(
    subscription.command("list").description("list the subscriptions"),
    tools,
    (client, page) => client.subscriptions.list(page),
    {
      id: ({ id }) => id,
      emitter: ({ emitter_id }, nameOf) => nameOf(emitter_id),
      channel: ({ event_name }) => event_name,
      listener: ({ listener_id }, nameOf) => nameOf(listener_id),
      filter: ({ filter }) => filter,
      function: functionOf,
    },
    { showsOthers: true },
  );
  showCommand(subscription, tools, SUBSCRIPTION, {
    description: "show a subscription with its function and the function's errors",
    detailOf,
  });
  createCommand(subscription, tools);
  updateCommand(subscription, tools);
  subscriptionTestCommand(subscription, tools);
  remoteAction<Confirmed>(
    yesOption(commandOn(subscription, "delete", SUBSCRIPTION, "end a subscription")),
    tools,
    async ({ client, options }, id = "") => {
      await confirmDeletion(`subscription ${plain(id)}`, options);
      await client.subscriptions.delete(id);
      print(`${id} was deleted.`);
    },
  );
}

function createCommand(subscription: Command, tools: RemoteTools): void {
  const command = subscription
    .command("create")
    .description("subscribe a listener to an emitter; of one that exists, what is given is replaced")
    .addArgument(
      new NamedArgument(
        "<emitter>",
        "source (id or name slug), workflow (id or name), account (u_… or o_…), 'dc_*' or 'p_*'",
        EMITTERS,
      ),
    )
    .addArgument(
      new NamedArgument(
        "<listener>",
        "webhook or destination (id or name), source (dc_…) or workflow (p_…)",
        LISTENERS,
      ),
    )
    .option("--channel <name>", "channel, $errors, $logs or $alerts (default: the default channel)")
    .option("--filter <json>", FILTER, parseObjectOption)
    .option("--function <file>", FUNCTION);
  remoteAction<ChangeOptions>(
    jsonOption(command),
    tools,
    async ({ client, options }, emitter = "", listener = "") => {
      const changes = await changesOf(options);
      const created = await client.subscriptions.create({
        emitter_id: /^[uo]_/.test(emitter) ? emitter : await findEmitterId(client, emitter),
        listener_id: await findListenerId(client, listener),
        ...(options.channel !== undefined && { event_name: options.channel }),
        ...changes,
      });
      show(created, options);
    },
  );
}

function updateCommand(subscription: Command, tools: RemoteTools): void {
  const command = commandOn(subscription, "update", SUBSCRIPTION, "change what is given of a subscription")
    .option("--filter <json>", FILTER, parseObjectOption)
    .option("--function <file>", FUNCTION)
    .option("--no-function", "events are sent as they are");
  remoteAction<ChangeOptions>(jsonOption(command), tools, async ({ client, options }, id = "") => {
    const changes = await changesOf(options);
    if (Object.keys(changes).length === 0)
      throw new UsageError("nothing to change: give an option, see --help");
    show(await client.subscriptions.update(id, changes), options);
  });
}

async function changesOf({ filter, function: file }: ChangeOptions) {
  return {
    ...(filter !== undefined && { filter }),
    ...(file !== undefined && { function: file === false ? null : await readTextFile(file) }),
  };
}

async function findListenerId(client: Headwater, idOrName: string): Promise<string> {
  if (/^(p|dc)_/.test(idOrName) || isDestinationId(idOrName)) return idOrName;
  return (await findReceiver(client, idOrName)).id;
}

function show(subscription: Subscription, { json }: { json?: boolean }): void {
  if (json) printJson(subscription);
  else print(detailOf(subscription));
}

/** What a list says of its function. */
function functionOf({ function_hash, function_errors = 0 }: Subscription): string {
  if (function_hash === undefined) return "";
  return function_errors === 0 ? "yes" : `yes, failed on ${function_errors}`;
}

function detailOf(subscription: Subscription): string {
  const { function: code, last_function_error: error } = subscription;
  const head = fields({
    id: subscription.id,
    organization: subscription.org_id,
    emitter: subscription.emitter_id,
    listener: subscription.listener_id,
    channel: subscription.event_name,
    filter: subscription.filter,
    function: functionOf(subscription),
    ...(error && {
      "last error": `${error.message}${placeOf(error)}, of event ${error.event_id} (${timeOf(error.at_ms)})`,
    }),
  });
  return code === undefined ? head : `${head}\n\n${code.trimEnd().split("\n").map(lineOf).join("\n")}`;
}

/** A tab is not a control character here: code is indented by it. */
const lineOf = (line: string) => line.split("\t").map(plain).join("\t");
