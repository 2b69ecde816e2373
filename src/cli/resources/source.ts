import type { Command } from "commander";
import type { Schemas } from "../../../clients/typescript/src/index.ts";
import { parseJsonOption } from "../json-option.ts";
import { print, printJson, timeOf } from "../output/print.ts";
import { fields } from "../output/table.ts";
import { type RemoteTools, remoteAction } from "../remote/remote-command.ts";
import { findSource } from "./find.ts";
import { jsonOption, listOptions } from "./list-options.ts";
import { type ListOptions, printRows } from "./print-rows.ts";
import { firstRows } from "./row-limit.ts";
import { sourceEventCommands } from "./source-events.ts";

type Source = Schemas["Source"];

const SOURCE = "id or name slug";

export function sourceCommands(program: Command, tools: RemoteTools): void {
  const source = program.command("source").description("see, watch and change event sources");
  remoteAction<ListOptions>(
    listOptions(source.command("list").description("list the sources")),
    tools,
    async ({ client, options }) => {
      const rows = await firstRows(
        client.sources.list({ limit: Math.min(options.limit, 100) }),
        options.limit,
      );
      printRows(rows, options, {
        name: ({ name_slug }) => name_slug,
        id: ({ id }) => id,
        active: ({ active }) => active,
        trigger: triggerOf,
        updated: ({ updated_at }) => timeOf(updated_at * 1000),
      });
    },
  );
  remoteAction<{ json?: boolean }>(
    jsonOption(source.command("show").description("show a source").argument("<source>", SOURCE)),
    tools,
    async ({ client, options }, id = "") => {
      const found = await findSource(client, id);
      if (options.json) printJson(found);
      else print(detailOf(found));
    },
  );
  sourceEventCommands(source, tools);
  changeCommands(source, tools);
}

function changeCommands(source: Command, tools: RemoteTools): void {
  for (const [name, active] of [
    ["enable", true],
    ["disable", false],
  ] as const) {
    remoteAction(
      source.command(name).description(`${name} a source`).argument("<source>", SOURCE),
      tools,
      async ({ client }, id = "") => {
        const found = await findSource(client, id);
        await client.sources.update(found.id, { active });
        print(`${found.name_slug} (${found.id}) is ${active ? "active" : "disabled"}.`);
      },
    );
  }
  remoteAction<{ event?: { value: unknown }; json?: boolean }>(
    jsonOption(
      source
        .command("run")
        .description("run a source now, in its series of runs")
        .argument("<source>", SOURCE)
        .option("--event <json>", "what run receives; needed by a source without a timer", parseJsonOption),
    ),
    tools,
    async ({ client, options }, id = "") => {
      const found = await findSource(client, id);
      const body = options.event ? { event: options.event.value } : {};
      const { run_id } = await client.sources.run(found.id, body);
      if (options.json) printJson({ run_id });
      else print(`${found.name_slug} (${found.id}) runs: ${run_id}`);
    },
  );
  remoteAction(
    source
      .command("delete")
      .description("delete a source with its events, memory and subscriptions")
      .argument("<source>", SOURCE),
    tools,
    async ({ client }, id = "") => {
      const found = await findSource(client, id);
      await client.sources.delete(found.id);
      print(`${found.name_slug} (${found.id}) was deleted.`);
    },
  );
}

/** What makes it run: an address, or a timer; null for neither. */
function triggerOf({ configured_props }: Source): string | null {
  for (const value of Object.values(configured_props)) {
    const { endpoint_url, cron, interval_seconds } = (value ?? {}) as Record<string, unknown>;
    if (typeof endpoint_url === "string") return endpoint_url;
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
