import { join } from "node:path";
import { type Command, InvalidArgumentError, Option } from "commander";
import { type RemoteTools, remoteAction } from "../remote/remote-command.ts";
import type { CatalogueOptions } from "./catalogue.ts";

const HELP = `
Saves each component below a folder, in a file, at an address, or at the addresses that a file lists (one a line), deploys it as
a source or action, runs it once, and deletes it again; then says how many came how far, and why the others did not.
It uses the account's quota, and events go to what the account subscribes by itself: an organization of its own
is a good place (--org). \`npm run catalogue\` does the same with a server of its own, unless --url or --profile names one.

  headwater catalogue components --props props.json
  headwater catalogue https://example.com/source.mjs addresses.txt --json

With --accounts, each is run with made-up accounts and values where there is no network, on the server that \`npm run catalogue\` starts:
it says which stop at the network, which is as far as they can come, and which elsewhere.

  npm run catalogue -- components --accounts accounts.json

--accounts: {"<slug of an app>": {"<field of $auth>": "value"}}; {} is enough: other apps and fields are made up.
--props: {"<key, path or address>": {"name": value, "$event": what run receives}}; a component without the values it
needs counts as one that needs props. A folder can be read only by a server on this machine that may reach 127.0.0.1.
One that was ended is gone on with by the same command; what it kept so far is in the file that --state names.`;

const MOST_AT_ONCE = 16;
const MOST_SECONDS = 3600;

export function catalogueCommand(
  program: Command,
  tools: RemoteTools,
  stateFolder: () => Promise<string>,
): void {
  const command = program
    .command("catalogue")
    .description("save, deploy and run every component below a folder or of a list, and say how many work")
    .argument("<folder or url...>", "folders, components' files, addresses, or files that list addresses")
    .option("--props <file>", "JSON file with prop values by component")
    .option("--accounts <file>", "JSON file with made-up accounts by app: run all, without a network")
    .addOption(countOption("--at-once <count>", "components at once", { most: MOST_AT_ONCE, usual: 2 }))
    .addOption(
      countOption("--seconds <count>", "time for each component", { most: MOST_SECONDS, usual: 120 }),
    )
    .option("--state <file>", "where it keeps how far it is (default: in ~/.local/state/headwater)")
    .option("--fresh", "begin again with all, whatever the state has")
    .option("--list", "only print which components it would examine")
    .option("--keep", "do not delete what was made")
    .option("--json", "print what was found as JSON")
    // npm run catalogue: the address of its own server is another one each time.
    .addOption(new Option("--server <name>", "which server the state is of").hideHelp())
    .addHelpText("after", HELP);
  remoteAction<CatalogueOptions>(command, tools, async ({ access, options }, ...words) => {
    const { catalogue } = await import("./catalogue.ts");
    await catalogue(words.flat(), access, options, {
      statePath: async id => join(await stateFolder(), `${id}.jsonl`),
    });
  });
}

function countOption(flags: string, description: string, { most, usual }: { most: number; usual: number }) {
  return new Option(flags, description).default(usual).argParser(text => {
    const count = Number(text);
    if (/^\d+$/.test(text) && count >= 1 && count <= most) return count;
    throw new InvalidArgumentError(`must be an integer from 1 to ${most}`);
  });
}
