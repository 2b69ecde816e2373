import type { Command } from "commander";
import type { Headwater } from "../../clients/typescript/src/index.ts";
import { UsageError } from "./input.ts";
import { note, printJsonLine } from "./output.ts";
import { clientFor, type RemoteTools, remoteAction } from "./remote/remote-command.ts";
import { parseCount } from "./resources/delivery-settings.ts";
import { DESTINATIONS, findDestination, NamedArgument } from "./resources/names.ts";
import { stopSignal } from "./run.ts";

interface Options {
  after?: string;
  limit?: number;
  once?: boolean;
}

/** Events of one response. */
const MOST = 100;
/** A request waits for so many seconds. */
const WAIT_S = 30;

const HELP = `
Each event is a line of JSON with its cursor. What was printed is acknowledged when the next events are asked for, and at the end of --once
and --limit: the next pull begins behind it. What was printed last when the command is stopped may be printed again.

  headwater destination create pull --name inbox
  headwater subscription create orders inbox
  headwater pull inbox | while read -r event; do …; done
  headwater pull inbox --once`;

export function pullCommand(program: Command, tools: RemoteTools): void {
  const command = program
    .command("pull")
    .description("print the events that a destination of kind pull keeps, and wait for more")
    .addArgument(new NamedArgument("<listener>", "destination of kind pull (id or name)", DESTINATIONS))
    .option("--after <cursor>", "begin behind this cursor, which acknowledges what is up to it")
    .option("--limit <n>", "end after so many events", parseCount)
    .option("--once", "end when nothing more is kept")
    .addHelpText("after", HELP);
  remoteAction<Options>(command, tools, async ({ client, access, options }, given = "") => {
    const { id, kind } = await findDestination(client, given);
    if (kind !== "pull")
      throw new UsageError(`${id} is of kind ${kind}: only one of kind pull is pulled from`);
    await pull(clientFor(access, { isSlow: true }), id, options);
  });
}

async function pull(client: Headwater, id: string, { after, limit, once = false }: Options): Promise<void> {
  const signal = stopSignal();
  let left = limit ?? Number.POSITIVE_INFINITY;
  /** Of what was printed; absent once it is acknowledged. */
  let printed: string | undefined;
  for (let cursor = after; left > 0 && !signal.aborted; ) {
    const query = {
      ...(cursor !== undefined && { after: cursor }),
      ...{ limit: Math.min(left, MOST), wait: once ? 0 : WAIT_S },
    };
    const pulled = await client.listeners.events(id, query, { signal }).catch((error: unknown) => {
      if (signal.aborted) return null;
      throw error;
    });
    if (pulled === null) return;
    printed = undefined;
    if (pulled.truncated) note("Some events that were kept are gone: too old, deleted, or not accessible.");
    for (const event of pulled.events) printJsonLine(event);
    if (pulled.events.length > 0) printed = pulled.cursor;
    left -= pulled.events.length;
    if (once && !pulled.has_more) break;
    cursor = pulled.cursor;
  }
  if (printed !== undefined) await client.listeners.events(id, { after: printed, limit: 1 });
}
