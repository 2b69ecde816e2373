import type { Command } from "commander";
import { type ApiAccess, type ApiOptions, apiAccessOf, apiOptions, baseUrlOf, openApi } from "../api.ts";
import { readPropsFile } from "../json-file.ts";
import type { WithPlatform } from "../run.ts";
import type { Deployed } from "./deploy.ts";

export interface DeployTools {
  withPlatform: WithPlatform;
  /** Returns the address and key of this project's `npm start`, if there is one. */
  developmentStart: () => Promise<Partial<ApiAccess>>;
}

interface Options extends ApiOptions {
  props?: string;
  name?: string;
}

const HELP = `
Deploys to a running Headwater; beside an \`npm start\`, no settings are needed. If you have a source with that name, it
is updated; props that the file leaves out then keep their values. A URL, and a file without relative imports, go
through the API; a file that imports others also needs the server's settings (MONGODB_URL, …) on this machine.

  headwater deploy https://github.com/OWNER/REPO/blob/main/source.mjs --props props.json --name "My source"`;

export function deployCommand(program: Command, { withPlatform, developmentStart }: DeployTools): void {
  const command = program
    .command("deploy")
    .description("save a component and deploy it as a source, or update the source of that name")
    .argument("<file or url>", "the component; the URL may be the GitHub page of a file")
    .option("--props <file>", "JSON file with the values of its props, by name")
    .option("--name <name>", "the source's name (default: the component's name)")
    .addHelpText("after", HELP);
  apiOptions(command).action(async (location: string, options: Options) => {
    const props = await readPropsFile(options.props);
    const access = apiAccessOf(options, await developmentStart());
    const [{ saveComponentAt }, { deploySource }] = await Promise.all([
      import("./save.ts"),
      import("./deploy.ts"),
    ]);
    const api = await openApi(access, `Headwater/${program.version()}`);
    try {
      const component = await saveComponentAt(location, api, { apiKey: access.apiKey, withPlatform });
      const deployed = await deploySource(api, component, props, options.name);
      process.stdout.write(`${JSON.stringify(deployed, null, 2)}\n`);
      process.stderr.write(`${nextSteps(deployed, access.url)}\n`);
    } finally {
      await api.close();
    }
  });
}

function nextSteps({ id, deployed }: Deployed, url: string): string {
  const api = `${baseUrlOf(url)}/v1`;
  const curl = 'curl -H "Authorization: Bearer $HEADWATER_API_KEY"';
  return [
    `${id} was ${deployed}.`,
    `watch:     ${curl} -N "${api}/sources/${id}/sse"`,
    `subscribe: ${curl} -X POST "${api}/subscriptions?emitter_id=${id}&listener_id=wh_…"`,
  ].join("\n");
}
