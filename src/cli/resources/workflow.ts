import type { Command } from "commander";
import type { Schemas } from "../../../clients/typescript/src/index.ts";
import { fields, show, timeOf } from "../output.ts";
import { type RemoteTools, remoteAction } from "../remote/remote-command.ts";
import { type JsonOption, jsonOption, type SearchOption, searchOption, textOf } from "./list.ts";
import { findWorkflow, WORKFLOWS } from "./names.ts";
import { type Subject, subjectCommands, updateCommand } from "./subject.ts";

/** `dropped` is shown of a single one only. */
type Workflow = Schemas["Workflow"] & Pick<Partial<Schemas["WorkflowDetail"]>, "dropped">;

const WORKFLOW: Subject<Workflow> = {
  word: "workflow",
  given: "id or name",
  names: WORKFLOWS,
  find: findWorkflow,
  detailOf,
  update: (client, id, body) => client.workflows.update(id, body as { name: string }),
};

const HELP = `
A program that publishes events needs an API key and a workflow, and nothing else; headwater source events shows them. An engine of
yours may receive what a workflow listens to (docs/jobs.md).

  headwater workflow create shop
  headwater publish shop --event '{"n": 1}'`;

/** Commands that see and change workflows: what programs publish as, and engines listen as. */
export function workflowCommands(program: Command, tools: RemoteTools): void {
  subjectCommands(program, tools, WORKFLOW, {
    description: "see and change workflows, as which your programs publish events",
    help: HELP,
    list: {
      description: "list the workflows",
      options: searchOption,
      read: (client, page, options: SearchOption) => client.workflows.list({ ...page, ...textOf(options) }),
      columns: {
        name: ({ name }) => name,
        id: ({ id }) => id,
        created: ({ created_at }) => timeOf(created_at * 1000),
      },
    },
    own(workflow) {
      const create = workflow
        .command("create")
        .description("register a workflow")
        .argument("<name>", "shown in lists; commands find it by this name too");
      remoteAction<JsonOption>(jsonOption(create), tools, async ({ client, options }, name = "") =>
        show(await client.workflows.create({ name }), options, detailOf),
      );
      updateCommand<Workflow, Workflow, JsonOption & { name: string }>(workflow, tools, WORKFLOW, {
        description: "rename a workflow",
        options: command => jsonOption(command.requiredOption("--name <name>", "shown in lists")),
        bodyOf: ({ name }) => ({ name }),
      });
    },
    delete: {
      description: "delete a workflow with its subscriptions and summaries; its deliveries go on",
      remove: (client, id) => client.workflows.delete(id),
    },
  });
}

function detailOf({ id, name, created_at, updated_at, dropped }: Workflow): string {
  return fields({
    ...{ id, name, dropped },
    created: timeOf(created_at * 1000),
    updated: timeOf(updated_at * 1000),
  });
}
