import type { Command } from "commander";
import { fromFile } from "../components/load-modules.ts";
import { publishComponent } from "../components/publish.ts";
import { saveModules } from "../components/save.ts";
import type { Run } from "./run.ts";

/** Owner of components that an operator publishes from files. It is not an account, so no user can delete them. */
const REGISTRY = "registry";

export function componentCommands(program: Command, run: Run): void {
  program
    .command("component")
    .description("manage the registry of published components")
    .command("publish")
    .description(
      "publish a component for every account: a local file with its relative imports, or a saved one by id",
    )
    .argument("<file or id>", "path, or sc_…")
    .action((fileOrId: string) =>
      run(async platform => {
        const id = /^sc_[A-Za-z0-9]{16}$/.test(fileOrId)
          ? fileOrId
          : (await saveModules(platform, { ownerId: REGISTRY, userId: REGISTRY }, fromFile(fileOrId), null))
              ._id;
        const component = await publishComponent(platform, id);
        return { id: component._id, key: component.key, name: component.name, version: component.version };
      }),
    );
}
