import type { Command } from "commander";
import type { Headwater } from "../../../clients/typescript/src/index.ts";
import { type RemoteTools, remoteAction } from "../remote/remote-command.ts";
import { idsOption, listOptions } from "./list-options.ts";
import { type Columns, type ListOptions, printRows } from "./print-rows.ts";
import { firstRows } from "./row-limit.ts";

/** A page of the API has so many rows at the most. */
const PAGE = 100;
/** So many things of a kind are known by their names; others keep their ids. */
const MOST_NAMES = 1000;

/**
 * Makes a command a list: the rows that `read` goes over, in these columns for people, or as JSON for programs. `read` gets
 * the size of a page, and what the command was called with. With `showsOthers` its columns have ids of other things.
 */
export function listCommand<Row, Options extends ListOptions = ListOptions>(
  command: Command,
  tools: RemoteTools,
  read: (client: Headwater, page: { limit: number }, options: Options) => AsyncIterable<Row>,
  columns: Columns<Row>,
  { showsOthers = false }: { showsOthers?: boolean } = {},
): void {
  const hasIds = showsOthers || ("name" in columns && "id" in columns);
  const listing = hasIds ? idsOption(listOptions(command)) : listOptions(command);
  remoteAction<Options>(listing, tools, async ({ client, options }) => {
    const rows = await firstRows(
      read(client, { limit: Math.min(options.limit, PAGE) }, options),
      options.limit,
    );
    const isNamed = showsOthers && !options.json && !options.ids && rows.rows.length > 0;
    printRows(rows, options, columns, isNamed ? await firstNames(client) : new Map());
  });
}

/** Returns the names of the account's things by their ids: sources by the slug that commands take, as all others by their name. */
async function firstNames(client: Headwater): Promise<Map<string, string>> {
  const [sources, ...others] = await Promise.all([
    firstRows(client.sources.list(), MOST_NAMES),
    firstRows(client.workflows.list(), MOST_NAMES),
    firstRows(client.webhooks.list(), MOST_NAMES),
    firstRows(client.destinations.list(), MOST_NAMES),
  ]);
  const named = others.flatMap(({ rows }): { id: string; name: string | null }[] => rows);
  return new Map([
    ...sources.rows.map(({ id, name_slug }) => [id, name_slug] as const),
    ...named.flatMap(({ id, name }) => (name === null ? [] : [[id, name] as const])),
  ]);
}
