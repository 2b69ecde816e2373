import { type Command, Option } from "commander";
import type { Schemas } from "../../../clients/typescript/src/index.ts";
import { type Confirmed, confirmDeletion, yesOption } from "../input.ts";
import { fields, plain, print, table, timeOf } from "../output.ts";
import { type RemoteTools, remoteAction } from "../remote/remote-command.ts";
import { type ListOptions, listCommand } from "./list.ts";
import { COMPONENT_IDS, COMPONENTS } from "./names.ts";
import { commandOn, type Subject, showCommand } from "./subject.ts";

type Component = Schemas["Component"];

interface Options extends ListOptions {
  type?: Component["type"];
}

const COMPONENT: Subject<Component> = {
  word: "component",
  given: "sc_… or key",
  find: (client, idOrKey) => client.components.get(idOrKey),
  names: COMPONENTS,
};

/** Adds the commands that see and delete saved components; returns their group, to which operators have more. */
export function savedComponentCommands(program: Command, tools: RemoteTools): Command {
  const component = program
    .command("component")
    .description("see the saved code of sources and actions; deploy and action deploy save it");
  listCommand<Component, Options>(
    component
      .command("list")
      .description("list the saved components")
      .addOption(new Option("--type <type>", "only what is deployed as this").choices(["source", "action"])),
    tools,
    (client, page, { type }) => {
      // Of each row its code may be 1 MB.
      const query = { ...page, ...(type && { type }), exclude: "code" };
      return client.components.list(query);
    },
    {
      name: ({ name }) => name,
      id: ({ id }) => id,
      type: ({ type }) => type,
      version: ({ version }) => version,
      key: ({ key }) => key,
      saved: ({ created_at }) => timeOf(created_at * 1000),
    },
  );
  showCommand(component, tools, COMPONENT, { description: "show a component with its props", detailOf });
  remoteAction<Confirmed>(
    yesOption(
      commandOn(
        component,
        "delete",
        { ...COMPONENT, given: "sc_…", names: COMPONENT_IDS },
        "delete a component that nothing uses",
      ),
    ),
    tools,
    async ({ client, options }, id = "") => {
      await confirmDeletion(`component ${plain(id)}`, options);
      await client.components.delete(id);
      print(`${id} was deleted.`);
    },
  );
  return component;
}

function detailOf(component: Component): string {
  const head = fields({
    name: component.name,
    id: component.id,
    type: component.type,
    version: component.version,
    key: component.key,
    owner: component.owner_id,
    published: component.published,
    address: component.component_url,
    description: component.description ?? undefined,
    dedupe: component.dedupe ?? undefined,
    "SHA-256": component.code_hash,
    "further props": component.additional_props ? "made by its code" : undefined,
    saved: timeOf(component.created_at * 1000),
  });
  if (component.configurable_props.length === 0) return head;
  const rows = component.configurable_props.map(prop => [prop.name, prop.type, prop.description]);
  return `${head}\n\n${table(["prop", "type", "description"], rows)}`;
}
