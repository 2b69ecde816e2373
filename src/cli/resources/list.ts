import { type Command, InvalidArgumentError, Option } from "commander";
import type { Headwater } from "../../../clients/typescript/src/index.ts";
import { note, print, printJson, printJsonLine, rowOf, table } from "../output.ts";
import { type RemoteTools, remoteAction } from "../remote/remote-command.ts";

/** A page of the API has so many rows at the most. */
const PAGE = 100;
/** So many things of a kind are known by their names; others keep their ids. */
const MOST_NAMES = 1000;

/** What the command `list` of a group shows. */
export interface Listing<Row, Options extends ListOptions = ListOptions> {
  description: string;
  /** Goes over the rows; gets the size of a page, and what the command was called with. */
  read: (client: Headwater, page: { limit: number }, options: Options) => AsyncIterable<Row>;
  /** What people see of them; programs get JSON. */
  columns: Columns<Row>;
  /** Whether columns have ids of other things. */
  showsOthers?: boolean;
  options?: (command: Command) => Command;
  /** Goes over rows as they are made or change, those of `read` first; with it, the list has `--follow`. */
  follow?: Listing<Row, Options>["read"];
}

/** Adds `list`. */
export function listCommand<Row, Options extends ListOptions = ListOptions>(
  group: Command,
  tools: RemoteTools,
  {
    description,
    read,
    columns,
    showsOthers = false,
    options: own = one => one,
    follow,
  }: Listing<Row, Options>,
): void {
  const command = listOptions(own(group.command("list").description(description)));
  if (follow)
    command.option("-f, --follow", "go on with what happens, until Ctrl-C; with --json, one line each");
  const hasIds = showsOthers || ("name" in columns && "id" in columns);
  const listing = hasIds ? command.option("--ids", "show ids, of which names are shown otherwise") : command;
  remoteAction<Options>(listing, tools, async ({ client, options }) => {
    const page = { limit: Math.min(options.limit, PAGE) };
    if (follow && options.follow) {
      // First: it checks the options before a server is asked.
      const rows = follow(client, page, options);
      const names = showsOthers && !options.json && !options.ids ? await firstNames(client) : new Map();
      for await (const row of rows) {
        if (options.json) printJsonLine(row);
        else print(rowOf(Object.values(columns).map(cell => cell(row, id => names.get(id) ?? id))));
      }
      return;
    }
    const rows = await firstRows(read(client, page, options), options.limit);
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

/** The option of a list that finds things by their text. */
export interface SearchOption extends ListOptions {
  search?: string;
}

/** Adds `--search` to a list. */
export const searchOption = (command: Command): Command =>
  command.option("--search <text>", "only those with this text in their name, address or id");

/** Returns the filter that `--search` means. */
export const textOf = ({ search }: SearchOption): { q?: string } =>
  search === undefined ? {} : { q: search };

const MOMENTS = ["last_event", "last_success", "last_error"] as const;

/** The option of a list that is sorted, by default by what last happened. */
export interface SortOption<Key extends string = (typeof MOMENTS)[number]> {
  sort?: Key;
}

/** Adds `--sort` to a list of things that have these moments. */
export const sortOption = (command: Command): Command =>
  command.addOption(new Option("--sort <moment>", "the latest first by this moment").choices(MOMENTS));

/** Returns the order that `--sort` means. */
export const sortOf = <Key extends string>({ sort }: SortOption<Key>): SortOption<Key> =>
  sort === undefined ? {} : { sort };

export interface JsonOption {
  json?: boolean;
}

/** Adds `--json` to a command. */
export const jsonOption = (command: Command): Command => command.option("--json", "print the API's JSON");

/** Adds the options of a list. */
export const listOptions = (command: Command, limit = 100): Command =>
  jsonOption(command).option("--limit <n>", "how many rows to show, newest first", parseLimit, limit);

/** The options of every list. */
export interface ListOptions extends JsonOption {
  /** Whether ids are shown of what has a name. */
  ids?: boolean;
  follow?: boolean;
  limit: number;
}

/** What a table shows of a row, by the titles of its columns. */
type Columns<Row> = Readonly<Record<string, (row: Row, nameOf: (id: string) => string) => unknown>>;

/** Prints rows as a table for people or as JSON for programs. */
export function printRows<Row>(
  { rows, hasMore }: Rows<Row>,
  { json, ids = false, limit }: Partial<ListOptions>,
  columns: Columns<Row>,
  names: ReadonlyMap<string, string> = new Map(),
): void {
  const nameOf = (id: string) => names.get(id) ?? id;
  if (json) printJson(rows);
  else if (rows.length === 0) note("There are none.");
  else {
    const shown = ids ? columns : withoutIds(columns);
    print(
      table(
        Object.keys(shown),
        rows.map(row => Object.values(shown).map(cell => cell(row, nameOf))),
      ),
    );
  }
  if (hasMore) note(`There are more than ${limit}: --limit shows them.`);
}

/** Columns by which people know a thing: by its name, and by its id only if it has none. */
function withoutIds<Row>({ id, ...others }: Columns<Row>): Columns<Row> {
  const { name } = others;
  if (id === undefined) return others;
  return name === undefined
    ? { id, ...others }
    : { ...others, name: (row, nameOf) => name(row, nameOf) ?? id(row, nameOf) };
}

/** No list that a person or a script reads in one go is longer. */
const MOST = 10_000;

/** Parses `--limit`: how many rows to print. */
function parseLimit(text: string): number {
  const count = Number(text);
  if (/^\d+$/.test(text) && count >= 1 && count <= MOST) return count;
  throw new InvalidArgumentError(`must be an integer from 1 to ${MOST}`);
}

/** The first rows of a list, and whether there are more. */
interface Rows<Row> {
  rows: Row[];
  hasMore: boolean;
}

/** Reads at most `limit` rows, page by page. */
export async function firstRows<Row>(list: AsyncIterable<Row>, limit: number): Promise<Rows<Row>> {
  const rows: Row[] = [];
  for await (const row of list) {
    if (rows.length === limit) return { rows, hasMore: true };
    rows.push(row);
  }
  return { rows, hasMore: false };
}
