import type { Command } from "commander";
import type { Headwater } from "../../../clients/typescript/src/index.ts";
import { readPropsFile } from "../json-file.ts";
import { note, printJson } from "../output/print.ts";
import { type RemoteTools, remoteAction } from "../remote/remote-command.ts";
import type { CodeBody, SavedComponent } from "./code-at.ts";

interface Options {
  props?: string;
  name?: string;
}

/** What becomes of a component once it is saved. */
interface Deploying<Deployed> {
  /** `source` or `action`, for help texts. */
  word: string;
  deploy: (
    client: Headwater,
    component: SavedComponent,
    code: CodeBody,
    props: Record<string, unknown>,
    name?: string,
  ) => Promise<Deployed>;
  /** What a person may do next. */
  nextSteps: (deployed: Deployed) => string[];
}

/** Makes a command one that saves a component, with its props and a name from the arguments, and deploys it. */
export function componentCommand<Deployed extends { id: string; deployed: "created" | "updated" }>(
  command: Command,
  tools: RemoteTools,
  { word, deploy, nextSteps }: Deploying<Deployed>,
): void {
  command
    .argument("<file or url>", "the component; the URL may be the GitHub page of a file")
    .option("--props <file>", "JSON file with the values of its props, by name")
    .option("--name <name>", `the ${word}'s name (default: the component's name)`);
  remoteAction<Options>(command, tools, async ({ client, options }, location = "") => {
    const props = await readPropsFile(options.props);
    const { codeAt } = await import("./code-at.ts");
    const code = await codeAt(location);
    const component = await client.components.create(code);
    const deployed = await deploy(client, component, code, props, options.name);
    printJson(deployed);
    note([`${deployed.id} was ${deployed.deployed}.`, ...nextSteps(deployed)].join("\n"));
  });
}
