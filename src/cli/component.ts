import type { Command } from "commander";
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

/** Adds to the commands of components the one that needs the settings of the stores. */
export function publishComponentCommand(component: Command, run: Run): void {
  component
    .command("publish")
    .helpGroup("For operators, who have the settings of the stores:")
    .description(
      "publish a component for every account: a local file with its relative imports, or a saved one by id",
    )
    .argument("<file or id>", "path, or sc_…")
    .action((fileOrId: string) =>
      run(async platform => {
        const { publishComponent } = await import("../components/publish.ts");
        const id = /^sc_[A-Za-z0-9]{16}$/.test(fileOrId) ? fileOrId : await saveFile(platform, fileOrId);
        const component = await publishComponent(platform, id);
        return { id: component._id, key: component.key, name: component.name, version: component.version };
      }),
    );
}
