import type { Command } from "commander";
import type { Component } from "../models/component.ts";
import type { Platform } from "../platform.ts";
import type { Run } from "./run.ts";

/** Owner of components that an operator publishes from files. It is not an account, so no user can delete them. */
const REGISTRY = "registry";

async function saveFile(platform: Platform, path: string): Promise<string> {
  const [{ fromFile }, { saveModules }] = await Promise.all([
    import("../components/load-modules.ts"),
    import("../components/save.ts"),
  ]);
  const saver = { ownerId: REGISTRY, userId: REGISTRY };
  return (await saveModules(platform, saver, fromFile(path), null))._id;
}

const OPERATORS = "For operators, who have the settings of the stores:";

/** Adds to the commands of components those that need the settings of the stores. */
export function publishComponentCommands(component: Command, run: Run): void {
  component
    .command("publish")
    .helpGroup(OPERATORS)
    .description(
      "publish a component for every account: a local file with its relative imports, or a saved one by id",
    )
    .argument("<file or id>", "path, or sc_…")
    .action((fileOrId: string) =>
      run(async platform => {
        const { publishComponent } = await import("../components/publish.ts");
        const id = /^sc_[A-Za-z0-9]{16}$/.test(fileOrId) ? fileOrId : await saveFile(platform, fileOrId);
        return shown(await publishComponent(platform, id));
      }),
    );
  component
    .command("unpublish")
    .helpGroup(OPERATORS)
    .description("take a published component back to its owner; what is deployed with it goes on")
    .argument("<id>", "sc_…")
    .action((id: string) =>
      run(async platform => {
        const { unpublishComponent } = await import("../components/publish.ts");
        return shown(await unpublishComponent(platform, id));
      }),
    );
}

const shown = ({ _id: id, key, name, version }: Component) => ({ id, key, name, version });
