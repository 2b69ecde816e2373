import type { Command } from "commander";
import type { Headwater, Schemas } from "../../../clients/typescript/src/index.ts";
import { plain, print, printJson, printJsonLine, shortened, timeOf } from "../output.ts";
import { type RemoteTools, remoteAction } from "../remote/remote-command.ts";
import { stopSignal } from "../run.ts";
import { findEmitterId } from "./find.ts";
import { listOptions } from "./list-options.ts";
import { EMITTERS, NamedArgument } from "./names.ts";
import type { ListOptions } from "./print-rows.ts";

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

export function sourceEventCommands(source: Command, tools: RemoteTools): void {
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
    const show = (row: Summary) => (options.json ? printJsonLine(row) : print(view.lineOf(row)));
    for (const row of rows) show(row);
    await follow(client, { id, view, shown: rows, show });
  });
}

interface Following {
  id: string;
  view: View;
  shown: readonly Summary[];
  show: (row: Summary) => void;
}

/** Shows what comes behind what was shown. A lost connection is opened again where it ended. */
async function follow(client: Headwater, { id, view, shown, show }: Following): Promise<void> {
  const keyOf = ({ id: eventId, metadata }: Summary) => `${metadata.name} ${eventId}`;
  const keys = new Set(shown.map(keyOf));
  const lastEventId = shown.at(-1)?.id ?? "0-0";
  for await (const message of client.watch({ emitters: [id], lastEventId, signal: stopSignal() })) {
    if (!("summary" in message) || !(view.kinds as string[]).includes(message.type)) continue;
    if (keys.has(keyOf(message.summary))) continue;
    show(message.summary);
  }
}
