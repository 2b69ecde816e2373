import type { Command } from "commander";
import { readPropsFile } from "../json-file.ts";
import { note, printJson } from "../output/print.ts";
import { type RemoteTools, remoteAction } from "../remote/remote-command.ts";
import type { WithPlatform } from "../run.ts";
import type { Deployed } from "./deploy.ts";

interface Options {
  props?: string;
  name?: string;
}

const HELP = `
Deploys to a running Headwater; beside an \`npm start\`, no settings are needed. If you have a source with that name, it
is updated; props that the file leaves out then keep their values. A URL, and a file without relative imports, go
through the API; a file that imports others also needs the server's settings (MONGODB_URL, …) on this machine. An action is
deployed by headwater action deploy.

  headwater deploy https://github.com/OWNER/REPO/blob/main/source.mjs --props props.json --name "My source"`;

export function deployCommand(
  program: Command,
  tools: RemoteTools,
  { withPlatform }: { withPlatform: WithPlatform },
): void {
  const command = program
    .command("deploy")
    .description("save a component and deploy it as a source, or update the source of that name")
    .argument("<file or url>", "the component; the URL may be the GitHub page of a file")
    .option("--props <file>", "JSON file with the values of its props, by name")
    .option("--name <name>", "the source's name (default: the component's name)")
    .addHelpText("after", HELP);
  remoteAction<Options>(command, tools, async ({ client, access, options }, location = "") => {
    const props = await readPropsFile(options.props);
    const [{ saveComponentAt }, { deploySource }] = await Promise.all([
      import("./save.ts"),
      import("./deploy.ts"),
    ]);
    const component = await saveComponentAt(location, client, { access, withPlatform });
    const deployed = await deploySource(client, component, props, options.name);
    printJson(deployed);
    note(nextSteps(deployed));
  });
}

const nextSteps = ({ id, deployed }: Deployed): string =>
  [
    `${id} was ${deployed}.`,
    `watch:     headwater source events ${id} --follow`,
    `subscribe: headwater subscription create ${id} wh_…`,
  ].join("\n");
