import type { Command } from "commander";
import { readPropsFile } from "../input.ts";
import { note, printJson } from "../output.ts";
import { type RemoteTools, remoteAction } from "../remote/remote-command.ts";

const SOURCE_HELP = `
Deploys to a running Headwater; beside an \`npm start\`, no settings are needed. If you have a source with that name, it
is updated; props that the file leaves out then keep their values. The files that a file imports by relative path are sent
with it. An action is deployed by headwater action deploy.

  headwater deploy https://github.com/OWNER/REPO/blob/main/source.mjs --props props.json --name "My source"`;

const ACTION_HELP = `
If you have an action with that name, it is updated; props that the file leaves out then keep their values. Their texts may
have templates: "Order {{event.id}}". Files are saved as headwater deploy saves them. An action is a destination: headwater
destination list, show, test and delete are for actions too. docs/actions.md describes them.

  headwater action deploy note.mjs --props props.json --name "note orders"
  headwater subscription create orders "note orders"`;

const COMMENT = "kept with this version of its code (headwater source versions)";

/** The command that deploys a component as a source. */
export const deployCommand = (program: Command, tools: RemoteTools): void =>
  componentCommand(program.command("deploy").option("--comment <text>", COMMENT), tools, {
    word: "source",
    description: "save a component and deploy it as a source, or update the source of that name",
    help: SOURCE_HELP,
    nextSteps: id => [
      `watch:     headwater source events ${id} --follow`,
      `subscribe: headwater subscription create ${id} wh_…`,
    ],
  });

/** The command that deploys a component of `type: "action"` (docs/actions.md). */
export const actionCommands = (program: Command, tools: RemoteTools): void =>
  componentCommand(
    program
      .command("action")
      .description("deploy actions: components that each event runs")
      .command("deploy"),
    tools,
    {
      word: "action",
      description: "save a component and deploy it as an action, or update the action of that name",
      help: ACTION_HELP,
      nextSteps: id => [
        `try:       headwater destination test ${id}`,
        `subscribe: headwater subscription create SOURCE ${id}`,
      ],
    },
  );

interface Deploying {
  /** What becomes of the component. */
  word: "source" | "action";
  description: string;
  help: string;
  /** What a person may do next with the thing of this id. */
  nextSteps: (id: string) => string[];
}

/** Makes a command one that saves a component, with its props and a name from the arguments, and deploys it. */
function componentCommand(
  command: Command,
  tools: RemoteTools,
  { word, description, help, nextSteps }: Deploying,
): void {
  command
    .description(description)
    .argument("<file or url>", "the component; the URL may be the GitHub page of a file")
    .option("--props <file>", "JSON file with the values of its props, by name")
    .option("--name <name>", `the ${word}'s name (default: the component's name)`)
    .addHelpText("after", help);
  remoteAction<{ props?: string; name?: string; comment?: string }>(
    command,
    tools,
    async ({ client, options }, location = "") => {
      const props = await readPropsFile(options.props);
      const { codeAt, deployAction, deploySource } = await import("./deploy.ts");
      const code = await codeAt(location);
      const component = await client.components.create(code);
      const deploy = word === "source" ? deploySource : deployAction;
      const deployed = await deploy(client, component, code, props, options);
      printJson(deployed);
      note([`${deployed.id} was ${deployed.deployed}.`, ...nextSteps(deployed.id)].join("\n"));
    },
  );
}
