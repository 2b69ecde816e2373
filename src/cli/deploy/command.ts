import type { Command } from "commander";
import type { RemoteTools } from "../remote/remote-command.ts";
import type { WithPlatform } from "../run.ts";
import { componentCommand } from "./component-command.ts";

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
    .addHelpText("after", HELP);
  componentCommand(command, tools, {
    word: "source",
    withPlatform,
    deploy: async (...given) => (await import("./deploy.ts")).deploySource(...given),
    nextSteps: ({ id }) => [
      `watch:     headwater source events ${id} --follow`,
      `subscribe: headwater subscription create ${id} wh_…`,
    ],
  });
}
