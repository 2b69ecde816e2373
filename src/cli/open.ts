import { spawn } from "node:child_process";
import type { Command } from "commander";
import type { Headwater } from "../../clients/typescript/src/index.ts";
import { print } from "./output.ts";
import { baseUrlOf } from "./remote/access.ts";
import { type RemoteTools, remoteAction } from "./remote/remote-command.ts";
import { EVERYTHING, findThingId, NamedArgument } from "./resources/names.ts";

const HELP = `
THING is an id of anything that has a page, or the name of a source (its slug), workflow, webhook or destination. At a terminal, the
page is opened in the browser too; \`headwater dashboard\` signs the browser in.

  headwater open
  headwater open orders
  headwater open dlv_… --print`;

/** The page of the dashboard for things of a prefix; what is on a list only has that of the list. */
const PAGES: Readonly<Record<string, (id: string) => string>> = {
  dc: id => `sources/${id}`,
  run: id => `runs/${id}`,
  sc: id => `components/${id}`,
  wh: id => `webhooks/${id}`,
  ds: id => `destinations/${id}`,
  ac: id => `destinations/${id}`,
  sub: id => `subscriptions/${id}`,
  dlv: id => `deliveries/${id}`,
  p: () => "workflows",
  apn: () => "connections",
  iss: () => "issues",
  rpl: () => "replays",
  key: () => "keys",
  al: () => "alerts",
  aud: () => "audit-log",
  o: () => "organization",
};

/** `headwater open`: where the dashboard shows a thing. */
export function openCommand(program: Command, tools: RemoteTools): void {
  const command = program
    .command("open")
    .description("print the dashboard's address of a thing, and open it in the browser at a terminal")
    .addArgument(new NamedArgument("[thing]", "id or name (default: the overview)", EVERYTHING))
    .option("--print", "only print it")
    .addHelpText("after", HELP);
  remoteAction<{ print?: boolean }>(command, tools, async ({ client, access, options }, thing?: string) => {
    const address = `${baseUrlOf(access.url)}/dashboard${await pageOf(client, thing)}`;
    print(address);
    if (!options.print && process.stdout.isTTY) openBrowser(address);
  });
}

async function pageOf(client: Headwater, thing: string | undefined): Promise<string> {
  if (thing === undefined) return "";
  const id = Object.hasOwn(PAGES, prefixOf(thing)) ? thing : await findThingId(client, thing);
  return `/${PAGES[prefixOf(id)]?.(encodeURIComponent(id)) ?? ""}`;
}

const prefixOf = (id: string): string => /^([a-z]+)_/.exec(id)?.[1] ?? "";

/** What opens an address, by the system. */
const OPENERS: Partial<Record<NodeJS.Platform, [string, ...string[]]>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};

/** The address is printed already: a machine without a browser needs no message. */
function openBrowser(address: string): void {
  const [program, ...args] = OPENERS[process.platform] ?? ["xdg-open"];
  spawn(program, [...args, address], { stdio: "ignore", detached: true })
    .on("error", () => undefined)
    .unref();
}
