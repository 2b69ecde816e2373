import type { Command } from "commander";
import type { Headwater } from "../../../clients/typescript/src/index.ts";
import { parseJsonOption, parseObjectOption, readTextFile, UsageError } from "../input.ts";
import { note, placeOf, print, printJson, table, timeOf } from "../output.ts";
import { type RemoteTools, remoteAction } from "../remote/remote-command.ts";
import { jsonOption } from "./list.ts";
import { EMITTERS, findEmitterId, NamedArgument } from "./names.ts";

interface Options {
  json?: boolean;
  channel?: string;
  filter?: Record<string, unknown>;
  function?: string;
  event?: { value: unknown };
}

/** Adds `test`: a filter or a function is tried, and nothing is stored or sent. */
export function subscriptionTestCommand(subscription: Command, tools: RemoteTools): void {
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
  remoteAction<Options>(jsonOption(command), tools, async ({ client, options }, emitter = "") => {
    const { filter, function: file, event } = options;
    if ((filter === undefined) === (file === undefined))
      throw new UsageError("--filter, --function: exactly one of them is needed");
    if (event !== undefined && file === undefined) throw new UsageError("--event: goes with --function");
    if (filter !== undefined) return testFilter(client, emitter, options, filter);
    await testFunction(client, emitter, options, await readTextFile(file ?? ""));
  });
}

const channelOf = ({ channel }: Options) => (channel === undefined ? {} : { event_name: channel });

async function testFilter(
  client: Headwater,
  emitter: string,
  options: Options,
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
  options: Options,
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
