import type { Command } from "commander";
import { componentCommand } from "../deploy/component-command.ts";
import type { RemoteTools } from "../remote/remote-command.ts";

const HELP = `
If you have an action with that name, it is updated; props that the file leaves out then keep their values. Their texts may
have templates: "Order {{event.id}}". Files are saved as headwater deploy saves them. An action is a destination: headwater
destination list, show, test and delete are for actions too. docs/actions.md describes them.

  headwater action deploy note.mjs --props props.json --name "note orders"
  headwater subscription create orders "note orders"`;

/** The command that deploys a component of `type: "action"` (docs/actions.md). */
export function actionCommands(program: Command, tools: RemoteTools): void {
  const command = program
    .command("action")
    .description("deploy actions: components that each event runs")
    .command("deploy")
    .description("save a component and deploy it as an action, or update the action of that name")
    .addHelpText("after", HELP);
  componentCommand(command, tools, {
    word: "action",
    deploy: async (...given) => (await import("../deploy/deploy-action.ts")).deployAction(...given),
    nextSteps: ({ id }) => [
      `try:       headwater destination test ${id}`,
      `subscribe: headwater subscription create SOURCE ${id}`,
    ],
  });
}
