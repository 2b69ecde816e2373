import type { Command } from "commander";
import { print } from "./output/print.ts";
import { type RemoteTools, remoteAction } from "./remote/remote-command.ts";

const HELP = `
Open the link within ten minutes; it works once. Beside an \`npm start\`, no settings are needed.`;

export function dashboardCommand(program: Command, tools: RemoteTools): void {
  const command = program
    .command("dashboard")
    .description("print a link that signs a browser in to the dashboard once, as the user of the API key")
    .addHelpText("after", HELP);
  remoteAction(command, tools, async ({ client }) => {
    print((await client.request("post", "/sign_in_links", {})).url);
  });
}
