import { type Command, Option } from "commander";
import type { Headwater, Schemas } from "../../../clients/typescript/src/index.ts";
import { parseJsonOption, parseObjectOption, readTextFile, UsageError } from "../input.ts";
import { fields, note, placeOf, plain, print, printJson, show, table, timeOf } from "../output.ts";
import { type RemoteTools, remoteAction } from "../remote/remote-command.ts";
import {
  type JsonOption,
  jsonOption,
  type SearchOption,
  type SortOption,
  searchOption,
  sortOf,
  textOf,
} from "./list.ts";
import {
  EMITTERS,
  findEmitterId,
  findReceiver,
  isDestinationId,
  LISTENERS,
  NamedArgument,
  NamedOption,
  SUBSCRIPTIONS,
} from "./names.ts";
import { type Subject, subjectCommands, updateCommand } from "./subject.ts";

type Subscription = Schemas["Subscription"];

const ORDERS = ["emitter", "listener", "last_error"] as const;

interface ListFilters extends SearchOption, SortOption<(typeof ORDERS)[number]> {
  emitter?: string;
  listener?: string;
}

interface ChangeOptions extends JsonOption {
  channel?: string;
  filter?: Record<string, unknown>;
  /** A file; false for none. */
  function?: string | false;
}

const SUBSCRIPTION: Subject<Subscription> = {
  word: "subscription",
  given: "sub_…",
  names: SUBSCRIPTIONS,
  isById: true,
  find: (client, id) => client.subscriptions.get(id),
  detailOf,
  update: (client, id, body) => client.subscriptions.update(id, body),
};
const FILTER = "only events that match (docs/filters.md); {} is none";
const FUNCTION = "file with the code that each event goes through (docs/functions.md)";

export function subscriptionCommands(program: Command, tools: RemoteTools): void {
  subjectCommands(program, tools, SUBSCRIPTION, {
    description: "see and change which listener gets which events",
    list: {
      description: "list the subscriptions",
      options: command =>
        searchOption(command)
          .addOption(
            new NamedOption("--emitter <emitter>", "only those of this source or workflow", EMITTERS),
          )
          .addOption(new NamedOption("--listener <listener>", "only those of this listener", LISTENERS))
          .addOption(
            new Option(
              "--sort <order>",
              "those of one emitter or listener together, or the latest error first",
            ).choices(ORDERS),
          ),
      read: listSubscriptions,
      columns: {
        id: ({ id }) => id,
        emitter: ({ emitter_id }, nameOf) => nameOf(emitter_id),
        channel: ({ event_name }) => event_name,
        listener: ({ listener_id }, nameOf) => nameOf(listener_id),
        filter: ({ filter }) => filter,
        function: functionOf,
      },
      showsOthers: true,
    },
    show: "show a subscription with its function and the function's errors",
    own(subscription) {
      createCommand(subscription, tools);
      updateCommand<Subscription, Subscription, ChangeOptions>(subscription, tools, SUBSCRIPTION, {
        description: "change what is given of a subscription",
        options: command =>
          jsonOption(
            command
              .option("--filter <json>", FILTER, parseObjectOption)
              .option("--function <file>", FUNCTION)
              .option("--no-function", "events are sent as they are"),
          ),
        bodyOf: changesOf,
      });
      subscriptionTestCommand(subscription, tools);
    },
    delete: {
      description: "end a subscription",
      remove: (client, id) => client.subscriptions.delete(id),
    },
  });
}

async function* listSubscriptions(client: Headwater, page: { limit: number }, options: ListFilters) {
  const { emitter, listener } = options;
  yield* client.subscriptions.list({
    ...page,
    ...textOf(options),
    ...sortOf(options),
    ...(emitter !== undefined && { emitter_id: await emitterIdOf(client, emitter) }),
    ...(listener !== undefined && { listener_id: await findListenerId(client, listener) }),
  });
}

/** An account, or a pattern, is named as it is. */
const emitterIdOf = async (client: Headwater, given: string): Promise<string> =>
  /^[uo]_|\*$/.test(given) ? given : await findEmitterId(client, given);

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
        emitter_id: await emitterIdOf(client, emitter),
        listener_id: await findListenerId(client, listener),
        ...(options.channel !== undefined && { event_name: options.channel }),
        ...changes,
      });
      show(created, options, detailOf);
    },
  );
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

interface TestOptions {
  json?: boolean;
  channel?: string;
  filter?: Record<string, unknown>;
  function?: string;
  event?: { value: unknown };
}

/** Adds `test`: a filter or a function is tried, and nothing is stored or sent. */
function subscriptionTestCommand(subscription: Command, tools: RemoteTools): void {
  const command = subscription
    .command("test")
    .description("try a filter or a function on the last events; nothing is stored or sent")
    .addArgument(
      new NamedArgument("<emitter>", "source (id or name slug) or workflow (id or name)", EMITTERS),
    )
    .option("--channel <name>", "channel, $errors or $logs (default: the default channel)")
    .option("--filter <json>", "shows which events match, and why the others don't", parseObjectOption)
    .option("--function <file>", "shows what its code makes of them; exit code 1 if it fails on one")
    .option("--event <json>", "with --function: this event instead of the last ones", parseJsonOption);
  remoteAction<TestOptions>(jsonOption(command), tools, async ({ client, options }, emitter = "") => {
    const { filter, function: file, event } = options;
    if ((filter === undefined) === (file === undefined))
      throw new UsageError("--filter, --function: exactly one of them is needed");
    if (event !== undefined && file === undefined) throw new UsageError("--event: goes with --function");
    if (filter !== undefined) return testFilter(client, emitter, options, filter);
    await testFunction(client, emitter, options, await readTextFile(file ?? ""));
  });
}

const channelOf = ({ channel }: TestOptions) => (channel === undefined ? {} : { event_name: channel });

async function testFilter(
  client: Headwater,
  emitter: string,
  options: TestOptions,
  filter: Record<string, unknown>,
): Promise<void> {
  const emitter_id = await findEmitterId(client, emitter);
  const tested = await client.subscriptions.testFilter({ emitter_id, filter, ...channelOf(options) });
  if (options.json) return printJson(tested);
  const rows = tested.results.map(({ event_id, emitted_at_ms, matched, reason }) => [
    event_id,
    timeOf(emitted_at_ms),
    matched,
    reason,
  ]);
  if (rows.length > 0) print(table(["event", "emitted", "matches", "reason"], rows));
  note(`${tested.matched} of ${tested.tested} events match.`);
}

async function testFunction(
  client: Headwater,
  emitter: string,
  options: TestOptions,
  code: string,
): Promise<void> {
  const { results } = await client.subscriptions.testFunction({
    emitter_id: await findEmitterId(client, emitter),
    function: code,
    ...channelOf(options),
    ...(options.event && { events: [options.event.value] }),
  });
  if (options.json) printJson({ results });
  else if (results.length === 0) note("There are no events: give one with --event.");
  else {
    const rows = results.map(({ event_id, ms, error, dropped, result }) => [
      event_id,
      ms.toFixed(1),
      error ? `error: ${error.message}${placeOf(error)}` : dropped ? "dropped" : JSON.stringify(result),
    ]);
    print(table(["event", "ms", "result"], rows));
    const logs = results.flatMap(({ event_id, logs }) =>
      logs.map(({ level, message }) => [event_id, level, message]),
    );
    if (logs.length > 0) print(`\n${table(["event", "level", "message"], logs)}`);
  }
  if (results.some(({ error }) => error !== null)) process.exitCode = 1;
}
