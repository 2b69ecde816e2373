import { type Command, Option } from "commander";
import { AppError } from "../lib/errors.ts";
import { type ApiAccess, openApi } from "./api.ts";
import { type Deployed, deploySource } from "./deploy/deploy.ts";
import { saveGiven } from "./deploy/save.ts";
import { readPropsFile } from "./json-file.ts";
import type { WithPlatform } from "./run.ts";

export interface DeployTools {
  withPlatform: WithPlatform;
  /** The `npm start` of this project, where there is one. */
  developmentStart: () => Partial<ApiAccess>;
}

interface Options {
  props?: string;
  name?: string;
  url?: string;
  key?: string;
}

const HELP = `
Deploys to a running Headwater: beside an \`npm start\` nothing needs to be set. A source of yours with that name is
updated; props that the file leaves out keep their values then. An address, and a file without relative imports, go
through the API; a file that imports others needs the server's settings (MONGODB_URL, …) on this machine too.

  headwater deploy https://github.com/OWNER/REPO/blob/main/source.mjs --props props.json --name "My source"`;

export function deployCommand(program: Command, { withPlatform, developmentStart }: DeployTools): void {
  program
    .command("deploy")
    .description("save a component and deploy it as a source, or update the source of that name")
    .argument("<file or url>", "the component; a GitHub page of a file means the file")
    .option("--props <file>", "JSON file with the values of its props, by name")
    .option("--name <name>", "the source's name; the component's unless given")
    .addOption(new Option("--url <api>", "address of the server").env("HEADWATER_URL"))
    .addOption(new Option("--key <key>", "API key").env("HEADWATER_API_KEY"))
    .addHelpText("after", HELP)
    .action(async (what: string, options: Options) => {
      const props = await readPropsFile(options.props);
      const access = accessOf(options, developmentStart());
      const api = openApi(access, `Headwater/${program.version()}`);
      try {
        const component = await saveGiven(what, api, { apiKey: access.apiKey, withPlatform });
        const deployed = await deploySource(api, component, props, options.name);
        process.stdout.write(`${JSON.stringify(deployed, null, 2)}\n`);
        process.stderr.write(`${nextSteps(deployed, access.url)}\n`);
      } finally {
        await api.close();
      }
    });
}

/** The development start's key goes to the development start only. */
function accessOf(options: Options, start: Partial<ApiAccess>): ApiAccess {
  const url = options.url ?? start.url;
  if (!url) throw new AppError("invalid", "no server: --url or HEADWATER_URL gives its address");
  if (!/^https?:\/\//.test(url)) throw new AppError("invalid", `${url} is no http or https address`);
  const apiKey = options.key ?? (url === start.url ? start.apiKey : undefined);
  if (!apiKey) throw new AppError("invalid", "no API key: --key or HEADWATER_API_KEY gives it");
  return { url, apiKey };
}

function nextSteps({ id, deployed }: Deployed, url: string): string {
  const api = `${url.replace(/\/+$/, "").replace(/\/v1$/, "")}/v1`;
  const curl = 'curl -H "Authorization: Bearer $HEADWATER_API_KEY"';
  return [
    `${id} was ${deployed}.`,
    `watch:     ${curl} -N "${api}/sources/${id}/sse"`,
    `subscribe: ${curl} -X POST "${api}/subscriptions?emitter_id=${id}&listener_id=wh_…"`,
  ].join("\n");
}
