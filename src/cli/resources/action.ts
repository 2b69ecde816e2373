import type { Command } from "commander";
import { readPropsFile } from "../json-file.ts";
import { note, printJson } from "../output/print.ts";
import { type RemoteTools, remoteAction } from "../remote/remote-command.ts";
import type { WithPlatform } from "../run.ts";

interface Options {
  props?: string;
  name?: string;
}

const HELP = `
If you have an action with that name, it is updated; props that the file leaves out then keep their values. Their texts may
have templates: "Order {{event.id}}". Files are saved as headwater deploy saves them. An action is a destination: headwater
destination list, show, test and delete are for actions too. docs/actions.md describes them.

  headwater action deploy note.mjs --props props.json --name "note orders"
  headwater subscription create orders "note orders"`;

/** The command that deploys a component of `type: "action"` (docs/actions.md). */
export function actionCommands(
  program: Command,
  tools: RemoteTools,
  { withPlatform }: { withPlatform: WithPlatform },
): void {
  const command = program
    .command("action")
    .description("deploy actions: components that each event runs")
    .command("deploy")
    .description("save a component and deploy it as an action, or update the action of that name")
    .argument("<file or url>", "the component; the URL may be the GitHub page of a file")
    .option("--props <file>", "JSON file with the values of its props, by name")
    .option("--name <name>", "the action's name (default: the component's name)")
    .addHelpText("after", HELP);
  remoteAction<Options>(command, tools, async ({ client, access, options }, location = "") => {
    const props = await readPropsFile(options.props);
    const [{ saveComponentAt }, { deployAction }] = await Promise.all([
      import("../deploy/save.ts"),
      import("../deploy/deploy-action.ts"),
    ]);
    const component = await saveComponentAt(location, client, { access, withPlatform });
    const deployed = await deployAction(client, component, props, options.name);
    printJson(deployed);
    note(
      [
        `${deployed.id} was ${deployed.deployed}.`,
        `try:       headwater destination test ${deployed.id}`,
        `subscribe: headwater subscription create SOURCE ${deployed.id}`,
      ].join("\n"),
    );
  });
}
