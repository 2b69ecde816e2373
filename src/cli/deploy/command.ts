import type { Command } from "commander";
import type { RemoteTools } from "../remote/remote-command.ts";
import { componentCommand } from "./component-command.ts";

const HELP = `
Deploys to a running Headwater; beside an \`npm start\`, no settings are needed. If you have a source with that name, it
is updated; props that the file leaves out then keep their values. The files that a file imports by relative path are sent
with it. An action is deployed by headwater action deploy.

  headwater deploy https://github.com/OWNER/REPO/blob/main/source.mjs --props props.json --name "My source"`;

export function deployCommand(program: Command, tools: RemoteTools): void {
  const command = program
    .command("deploy")
    .description("save a component and deploy it as a source, or update the source of that name")
    .addHelpText("after", HELP);
  componentCommand(command, tools, {
    word: "source",
    deploy: async (...given) => (await import("./deploy.ts")).deploySource(...given),
    nextSteps: ({ id }) => [
      `watch:     headwater source events ${id} --follow`,
      `subscribe: headwater subscription create ${id} wh_…`,
    ],
  });
}
