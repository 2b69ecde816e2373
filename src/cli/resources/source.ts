import type { Command } from "commander";
import type { Schemas } from "../../../clients/typescript/src/index.ts";
import { parseJsonOption } from "../input.ts";
import { fields, print, printJson, timeOf } from "../output.ts";
import { type RemoteTools, remoteAction } from "../remote/remote-command.ts";
import { findSource } from "./find.ts";
import { listCommand } from "./list-command.ts";
import { jsonOption } from "./list-options.ts";
import { SOURCES } from "./names.ts";
import { sourceEventCommands } from "./source-events.ts";
import { activeCommands, commandOn, deleteCommand, type Subject, showCommand } from "./subject.ts";

type Source = Schemas["Source"];

const SOURCE: Subject<Schemas["SourceDetail"]> = {
  word: "source",
  given: "id or name slug",
  find: findSource,
  names: SOURCES,
};

export function sourceCommands(program: Command, tools: RemoteTools): void {
  const source = program.command("source").description("see, watch and change event sources");
  listCommand(
    source.command("list").description("list the sources"),
    tools,
    (client, page) => client.sources.list(page),
    {
      name: ({ name_slug }) => name_slug,
      id: ({ id }) => id,
      active: ({ active }) => active,
      trigger: triggerOf,
      updated: ({ updated_at }) => timeOf(updated_at * 1000),
    },
  );
  showCommand(source, tools, SOURCE, { detailOf });
  sourceEventCommands(source, tools);
  activeCommands(source, tools, SOURCE, (client, id, body) => client.sources.update(id, body));
  runCommand(source, tools);
  rotateCommand(source, tools);
  deleteCommand(source, tools, SOURCE, {
    description: "delete a source with its events, memory and subscriptions",
    remove: (client, id) => client.sources.delete(id),
  });
}

function runCommand(source: Command, tools: RemoteTools): void {
  const command = commandOn(source, "run", SOURCE, "run a source now, in its series of runs").option(
    "--event <json>",
    "what run receives; needed by a source without a timer",
    parseJsonOption,
  );
  remoteAction<{ event?: { value: unknown }; json?: boolean }>(
    jsonOption(command),
    tools,
    async ({ client, options }, id = "") => {
      const found = await findSource(client, id);
      const body = options.event ? { event: options.event.value } : {};
      const { run_id } = await client.sources.run(found.id, body);
      if (options.json) printJson({ run_id });
      else print(`${found.name} (${found.id}) runs: ${run_id}`);
    },
  );
}

function rotateCommand(source: Command, tools: RemoteTools): void {
  const description = "replace the address of its endpoint; the old one ends at once";
  const command = commandOn(source, "rotate-endpoint", SOURCE, description);
  remoteAction<{ json?: boolean }>(jsonOption(command), tools, async ({ client, options }, id = "") => {
    const found = await findSource(client, id);
    const rotated = await client.sources.rotateEndpoint(found.id);
    if (options.json) printJson(rotated);
    else print(triggerOf(rotated) ?? "");
  });
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
