import type { Command } from "commander";
import type { Headwater, Schemas } from "../../../clients/typescript/src/index.ts";
import { parseJsonOption } from "../input.ts";
import { fields, plain, print, printJson, printJsonLine, shortened, show, timeOf } from "../output.ts";
import { type RemoteTools, remoteAction } from "../remote/remote-command.ts";
import { stopSignal } from "../run.ts";
import {
  type JsonOption,
  jsonOption,
  type ListOptions,
  listOptions,
  type SearchOption,
  type SortOption,
  searchOption,
  sortOf,
  sortOption,
  textOf,
} from "./list.ts";
import { EMITTERS, findEmitterId, findSource, NamedArgument, SOURCES } from "./names.ts";
import { endpointOf, sendCommand } from "./send-signed.ts";
import { runsCommand } from "./source-runs.ts";
import { versionCommands } from "./source-version.ts";
import { activeCommands, commandOn, type Subject, subjectCommands, thingAction } from "./subject.ts";

type Source = Schemas["Source"];

interface ListFilters extends SearchOption, SortOption {
  active?: boolean;
}

const SOURCE: Subject<Schemas["SourceDetail"], Source> = {
  word: "source",
  given: "id or name slug",
  names: SOURCES,
  find: findSource,
  detailOf,
  update: (client, id, body) => client.sources.update(id, body),
};

export function sourceCommands(program: Command, tools: RemoteTools): void {
  subjectCommands(program, tools, SOURCE, {
    description: "see, watch and change event sources",
    list: {
      description: "list the sources",
      options: command =>
        sortOption(searchOption(command))
          .option("--active", "only those that are active")
          .option("--no-active", "only those that are not"),
      read: (client, page, options: ListFilters) =>
        client.sources.list({
          ...page,
          ...textOf(options),
          ...sortOf(options),
          ...(options.active !== undefined && { active: options.active }),
        }),
      columns: {
        name: ({ name_slug }) => name_slug,
        id: ({ id }) => id,
        active: ({ active }) => active,
        trigger: triggerOf,
        updated: ({ updated_at }) => timeOf(updated_at * 1000),
      },
    },
    own(source) {
      sourceEventCommands(source, tools);
      activeCommands(source, tools, SOURCE);
      versionCommands(source, tools, SOURCE);
      runCommand(source, tools);
      runsCommand(source, tools, SOURCE);
      sendCommand(source, tools, SOURCE);
      rotateCommand(source, tools);
    },
    delete: {
      description: "delete a source with its events, memory and subscriptions",
      remove: (client, id) => client.sources.delete(id),
    },
  });
}

function runCommand(source: Command, tools: RemoteTools): void {
  const command = commandOn(source, "run", SOURCE, "run a source now, in its series of runs").option(
    "--event <json>",
    "what run receives; needed by a source without a timer",
    parseJsonOption,
  );
  thingAction<Schemas["SourceDetail"], JsonOption & { event?: { value: unknown } }>(
    jsonOption(command),
    tools,
    SOURCE,
    async ({ id, name }, { client, options }) => {
      const body = options.event ? { event: options.event.value } : {};
      const { run_id } = await client.sources.run(id, body);
      show({ run_id }, options, () => `${name} (${id}) runs: ${run_id}`);
    },
  );
}

function rotateCommand(source: Command, tools: RemoteTools): void {
  const description = "replace the address of its endpoint; the old one ends at once";
  const command = jsonOption(commandOn(source, "rotate-endpoint", SOURCE, description));
  thingAction(command, tools, SOURCE, async ({ id }, { client, options }) =>
    show(await client.sources.rotateEndpoint(id), options, rotated => endpointOf(rotated) ?? ""),
  );
}

/** What makes it run: an address, or else a timer; null for neither. */
function triggerOf(source: Source): string | null {
  const endpoint = endpointOf(source);
  if (endpoint !== null) return endpoint;
  for (const value of Object.values(source.configured_props)) {
    const { cron, interval_seconds } = (value ?? {}) as Record<string, unknown>;
    if (typeof cron === "string") return `cron ${cron}`;
    if (typeof interval_seconds === "number") return `every ${interval_seconds} s`;
  }
  return null;
}

function detailOf(source: Schemas["SourceDetail"]): string {
  const { id, name, name_slug, active, component_id, created_at, updated_at, next_tick_at_ms } = source;
  return fields({
    id,
    name,
    slug: name_slug,
    active,
    ...(source.deactivating && { "deactivate hook": "waits for the run in progress" }),
    trigger: triggerOf(source),
    "next tick": next_tick_at_ms === null ? null : timeOf(next_tick_at_ms),
    component: component_id,
    props: source.configured_props,
    "secrets set": source.secrets_set.join(", "),
    dropped: source.dropped,
    created: timeOf(created_at * 1000),
    updated: timeOf(updated_at * 1000),
  });
}

type Summary = Schemas["EventSummary"];

interface Options extends ListOptions {
  follow?: boolean;
}

/** What one of the commands shows of an emitter. */
interface View {
  kinds: readonly ("emit" | "error" | "log")[];
  read: (client: Headwater, emitterId: string, limit: number) => Promise<Summary[]>;
  lineOf: (summary: Summary) => string;
}

/** The server keeps so many of each kind. */
const MOST = 100;
/** So much of an event is in its line. */
const EVENT_CHARS = 200;

const events: View = {
  kinds: ["emit"],
  async read(client, id, limit) {
    const list = id.startsWith("p_")
      ? client.workflows.events(id, { limit })
      : client.sources.events(id, { limit });
    return (await list).data;
  },
  lineOf: ({ id, indexed_at_ms, event, metadata }) => {
    const channel = metadata.name === "" ? "" : ` [${plain(metadata.name)}]`;
    const text = metadata.summary ?? JSON.stringify(event.raw_event) ?? "";
    return `${timeOf(indexed_at_ms)} ${id}${channel} ${shortened(text, EVENT_CHARS)}`;
  },
};

const logs: View = {
  kinds: ["log", "error"],
  async read(client, id, limit) {
    const pages = [client.sources.logs(id, { limit }), client.sources.errors(id, { limit })];
    const rows = (await Promise.all(pages)).flatMap(({ data }) => data);
    return rows.sort((a, b) => b.indexed_at_ms - a.indexed_at_ms).slice(0, limit);
  },
  lineOf: ({ indexed_at_ms, event, metadata }) => {
    const isError = metadata.name === "$errors";
    const { code, message, stack } = (event.error ?? {}) as Record<string, unknown>;
    const text = isError ? String(stack ?? message ?? code) : String(event.message ?? JSON.stringify(event));
    const level = isError ? "error" : String(event.level ?? "log");
    return `${timeOf(indexed_at_ms)} ${plain(level).padEnd(5)} ${text.split("\n").map(plain).join("\n    ")}`;
  },
};

function sourceEventCommands(source: Command, tools: RemoteTools): void {
  addView(
    source.command("logs").description("print what a source logged, with its errors, oldest first"),
    tools,
    logs,
  );
  addView(
    source.command("events").description("print a source's or workflow's events, oldest first"),
    tools,
    events,
    "source (id or name slug) or workflow (id or name)",
  );
}

function addView(command: Command, tools: RemoteTools, view: View, given = "id or name slug"): void {
  const withOptions = listOptions(command.addArgument(new NamedArgument("<source>", given, EMITTERS)), 20);
  withOptions.option("-f, --follow", "go on with what happens, until Ctrl-C; with --json, one line each");
  remoteAction<Options>(withOptions, tools, async ({ client, options }, given = "") => {
    const id = await findEmitterId(client, given);
    const rows = (await view.read(client, id, Math.min(options.limit, MOST))).reverse();
    if (!options.follow) {
      if (options.json) printJson(rows);
      else for (const row of rows) print(view.lineOf(row));
      return;
    }
    const say = (row: Summary) => (options.json ? printJsonLine(row) : print(view.lineOf(row)));
    for (const row of rows) say(row);
    await follow(client, { id, view, shown: rows, say });
  });
}

interface Following {
  id: string;
  view: View;
  shown: readonly Summary[];
  say: (row: Summary) => void;
}

/** Shows what comes behind what was shown. A lost connection is opened again where it ended. */
async function follow(client: Headwater, { id, view, shown, say }: Following): Promise<void> {
  const keyOf = ({ id: eventId, metadata }: Summary) => `${metadata.name} ${eventId}`;
  const keys = new Set(shown.map(keyOf));
  const lastEventId = shown.at(-1)?.id ?? "0-0";
  for await (const message of client.watch({ emitters: [id], lastEventId, signal: stopSignal() })) {
    if (!("summary" in message) || !(view.kinds as string[]).includes(message.type)) continue;
    if (keys.has(keyOf(message.summary))) continue;
    say(message.summary);
  }
}
