import { type Command, Option } from "commander";
import type { Headwater, Schemas } from "../../../clients/typescript/src/index.ts";
import { AppError } from "../../lib/errors.ts";
import { readPropsFile } from "../input.ts";
import { fields, note, printJson, show, table } from "../output.ts";
import { type RemoteTools, remoteAction } from "../remote/remote-command.ts";
import { type JsonOption, jsonOption } from "./list.ts";

type Card = Schemas["GalleryCard"];
type Entry = Schemas["GalleryEntry"];
type Filter = NonNullable<Parameters<Headwater["gallery"]["list"]>[0]>;

const ACCOUNTS = ["none", "key", "oauth"] as const satisfies Card["app"]["account"]["kind"][];
const NEEDED: Record<Card["app"]["account"]["kind"], string> = {
  none: "no account",
  key: "a key",
  oauth: "consent",
};

interface ListOptions extends JsonOption, Pick<Filter, "category" | "account" | "type"> {
  search?: string;
}

/** Adds the commands that show and deploy what the gallery of a server has (docs/gallery.md), and returns their group. */
export function galleryCommands(program: Command, tools: RemoteTools): Command {
  const gallery = program
    .command("gallery")
    .description("see and deploy the ready-made components of the server's release");
  listCommand(gallery, tools);
  const showCommand = gallery
    .command("show")
    .description("show one, with its props, a sample and its changes");
  remoteAction<JsonOption>(
    jsonOption(keyArgument(showCommand)),
    tools,
    async ({ client, options }, key = "") => show(await client.gallery.get(key), options, detailOf),
  );
  deployCommand(gallery, tools);
  return gallery;
}

const keyArgument = (command: Command): Command => command.argument("<key>", "as gallery list shows it");

function listCommand(gallery: Command, tools: RemoteTools): void {
  const command = jsonOption(
    gallery.command("list").description("list them, those that need no account first"),
  )
    .option("--search <text>", "only those with this text in their name, description, key or app")
    .option("--category <name>", "only those of this category")
    .addOption(new Option("--account <kind>", "only those that need this of the vendor").choices(ACCOUNTS))
    .addOption(new Option("--type <type>", "only what is deployed as this").choices(["source", "action"]));
  remoteAction<ListOptions>(command, tools, async ({ client, options }) => {
    const { search: q, category, account, type } = options;
    const query: Filter = {
      ...(q && { q }),
      ...(category && { category }),
      ...(account && { account }),
      ...(type && { type }),
    };
    show(await client.gallery.list(query), options, ({ components }) => rowsOf(components));
  });
}

function rowsOf(cards: Card[]): string {
  if (cards.length === 0) return "There are none.";
  const columns = ["key", "type", "version", "needs", "what it does"];
  const rows = cards.map(one => [
    one.key,
    one.type,
    one.version,
    NEEDED[one.app.account.kind],
    one.description,
  ]);
  return table(columns, rows);
}

function detailOf(entry: Entry): string {
  const { app } = entry;
  const head = fields({
    ...{ name: entry.name, key: entry.key, type: entry.type, version: entry.version },
    "what it does": entry.description,
    app: app.name,
    categories: app.categories.join(", "),
    needs: app.account.needs ?? NEEDED[app.account.kind],
    "where it is": app.account.where?.url,
    "of the vendor": app.docs?.url,
    maturity: app.maturity,
    ...(entry.origin && { "published by": `${entry.origin.title}, ${entry.origin.url}` }),
    component: entry.component_id ?? "not published",
  });
  const props = entry.configurable_props.map(({ name, type, optional, label, description }) => [
    ...[name, type, optional === true ? "" : "yes"],
    [label, description].filter(Boolean).join(": "),
  ]);
  const changes = entry.changelog.map(one => `${one.version}, ${one.date}: ${one.changes.join(" ")}`);
  const sample = entry.sample === null ? [] : [`A sample:\n${JSON.stringify(entry.sample, null, 2)}`];
  return [head, table(["prop", "type", "needed", "what it is"], props), ...sample, changes.join("\n")].join(
    "\n\n",
  );
}

const DEPLOY_HELP = `
If you have a source or action with that name, it is updated to the version of this release; props that the file leaves out then
keep their values, secrets too.

  headwater gallery deploy headwater-feed --props feed.json --name news`;

function deployCommand(gallery: Command, tools: RemoteTools): void {
  const command = keyArgument(gallery.command("deploy").description("deploy one as a source or an action"))
    .option("--props <file>", "JSON file with the values of its props, by name")
    .option("--name <name>", "name of the source or action (default: the component's name)")
    .addHelpText("after", DEPLOY_HELP);
  remoteAction<{ props?: string; name?: string }>(command, tools, async ({ client, options }, key = "") => {
    const props = await readPropsFile(options.props);
    const entry = await client.gallery.get(key);
    if (entry.component_id === null)
      throw new AppError("not-found", `${key} is not published on this server`);
    const { deployAction, deploySource } = await import("../deploy/deploy.ts");
    const deploy = entry.type === "action" ? deployAction : deploySource;
    const id = entry.component_id;
    const deployed = await deploy(client, { ...entry, id }, { component_id: id }, props, options);
    printJson(deployed);
    note(`${deployed.id} was ${deployed.deployed}.`);
  });
}
