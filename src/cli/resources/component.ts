import { type Command, Option } from "commander";
import type { Schemas } from "../../../clients/typescript/src/index.ts";
import { fields, table, timeOf } from "../output.ts";
import type { RemoteTools } from "../remote/remote-command.ts";
import { type SearchOption, searchOption, textOf } from "./list.ts";
import { COMPONENT_IDS, COMPONENTS } from "./names.ts";
import { type Subject, subjectCommands } from "./subject.ts";

type Component = Schemas["Component"];

interface Options extends SearchOption {
  type?: Component["type"];
}

const COMPONENT: Subject<Component> = {
  word: "component",
  given: "sc_… or key",
  names: COMPONENTS,
  find: (client, idOrKey) => client.components.get(idOrKey),
  detailOf,
};

/** Adds the commands that see and delete saved components; returns their group, to which operators have more. */
export function savedComponentCommands(program: Command, tools: RemoteTools): Command {
  return subjectCommands<Component, Component, Component, Options>(program, tools, COMPONENT, {
    description: "see the saved code of sources and actions; deploy and action deploy save it",
    list: {
      description: "list the saved components",
      options: command =>
        searchOption(command).addOption(
          new Option("--type <type>", "only what is deployed as this").choices(["source", "action"]),
        ),
      read: (client, page, options) => {
        const { type } = options;
        // Of each row its code may be 1 MB.
        const query = { ...page, ...textOf(options), ...(type && { type }), exclude: "code" };
        return client.components.list(query);
      },
      columns: {
        name: ({ name }) => name,
        id: ({ id }) => id,
        type: ({ type }) => type,
        version: ({ version }) => version,
        key: ({ key }) => key,
        saved: ({ created_at }) => timeOf(created_at * 1000),
      },
    },
    show: "show a component with its props",
    delete: {
      description: "delete a component that nothing uses",
      subject: { ...COMPONENT, isById: true, given: "sc_…", names: COMPONENT_IDS },
      remove: (client, id) => client.components.delete(id),
    },
  });
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
    remember: component.remember ?? undefined,
    "SHA-256": component.code_hash,
    "further props": component.additional_props ? "made by its code" : undefined,
    saved: timeOf(component.created_at * 1000),
  });
  if (component.configurable_props.length === 0) return head;
  const rows = component.configurable_props.map(prop => [prop.name, prop.type, prop.description]);
  return `${head}\n\n${table(["prop", "type", "description"], rows)}`;
}
