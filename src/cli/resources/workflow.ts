import type { Command } from "commander";
import type { Schemas } from "../../../clients/typescript/src/index.ts";
import { fields, print, printJson, timeOf } from "../output.ts";
import { type RemoteTools, remoteAction } from "../remote/remote-command.ts";
import { jsonOption, listCommand } from "./list.ts";
import { findWorkflow, WORKFLOWS } from "./names.ts";
import { commandOn, deleteCommand, type Subject, showCommand } from "./subject.ts";

type Workflow = Schemas["WorkflowDetail"];

const WORKFLOW: Subject<Workflow> = {
  word: "workflow",
  given: "id or name",
  find: findWorkflow,
  names: WORKFLOWS,
};

const HELP = `
A program that publishes events needs an API key and a workflow, and nothing else; headwater source events shows them. An engine of
yours may receive what a workflow listens to (docs/jobs.md).

  headwater workflow create shop
  headwater publish shop --event '{"n": 1}'`;

/** Commands that see and change workflows: what programs publish as, and engines listen as. */
export function workflowCommands(program: Command, tools: RemoteTools): void {
  const workflow = program
    .command("workflow")
    .description("see and change workflows, as which your programs publish events")
    .addHelpText("after", HELP);
  listCommand(
    workflow.command("list").description("list the workflows"),
    tools,
    (client, page) => client.workflows.list(page),
    {
      name: ({ name }) => name,
      id: ({ id }) => id,
      created: ({ created_at }) => timeOf(created_at * 1000),
    },
  );
  showCommand(workflow, tools, WORKFLOW, { detailOf });
  const create = workflow
    .command("create")
    .description("register a workflow")
    .argument("<name>", "shown in lists; commands find it by this name too");
  remoteAction<{ json?: boolean }>(jsonOption(create), tools, async ({ client, options }, name = "") => {
    show(await client.workflows.create({ name }), options);
  });
  const update = commandOn(workflow, "update", WORKFLOW, "rename a workflow").requiredOption(
    "--name <name>",
    "shown in lists",
  );
  remoteAction<{ json?: boolean; name: string }>(
    jsonOption(update),
    tools,
    async ({ client, options }, given = "") => {
      const { id } = await findWorkflow(client, given);
      show(await client.workflows.update(id, { name: options.name }), options);
    },
  );
  deleteCommand(workflow, tools, WORKFLOW, {
    description: "delete a workflow with its subscriptions and summaries; its deliveries go on",
    remove: (client, id) => client.workflows.delete(id),
  });
}

function show(workflow: Schemas["Workflow"], { json }: { json?: boolean }): void {
  if (json) printJson(workflow);
  else print(detailOf(workflow));
}

const detailOf = ({
  id,
  name,
  created_at,
  updated_at,
  dropped,
}: Omit<Workflow, "dropped"> & Partial<Workflow>) =>
  fields({
    ...{ id, name, dropped },
    created: timeOf(created_at * 1000),
    updated: timeOf(updated_at * 1000),
  });
