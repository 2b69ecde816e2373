import type { Command } from "commander";
import { type ApiAccess, type ApiOptions, apiAccessOf, apiOptions, openApi } from "./api.ts";

const HELP = `
Open the link within ten minutes; it works once. Beside an \`npm start\`, no settings are needed.

  headwater login
  headwater login --url https://headwater.example.com --key hw_…`;

export function loginCommand(program: Command, developmentStart: () => Promise<Partial<ApiAccess>>): void {
  const command = program
    .command("login")
    .description("print a link that signs a browser in to the dashboard once, as the user of the API key")
    .addHelpText("after", HELP);
  apiOptions(command).action(async (options: ApiOptions) => {
    const access = apiAccessOf(options, await developmentStart());
    const api = await openApi(access, `Headwater/${program.version()}`);
    try {
      const { data } = await api.request<{ data: { url: string } }>("POST", "/sign_in_links");
      process.stdout.write(`${data.url}\n`);
    } finally {
      await api.close();
    }
  });
}
