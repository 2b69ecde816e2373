import type { Command } from "commander";
import type { LocalSettings } from "./dev/local-services.ts";
import { recordOfOperator } from "./operator-log.ts";
import { note, print } from "./output.ts";
import type { Run } from "./run.ts";

const OPERATORS = "For operators, who have the settings of the stores:";

/** Adds to the commands of the gallery those with which operators take indexes of others, and others make them. */
export function galleryIndexCommands(
  gallery: Command,
  run: Run,
  settings: () => Promise<LocalSettings>,
): void {
  gallery
    .command("pack")
    .helpGroup("Without a server:")
    .description(
      "make an index of components, for operators who add it; prints it, and its sha256 on the standard error",
    )
    .argument(
      "<file>",
      "JSON: title, apps, and components with their app, file and changelog; docs/gallery.md",
    )
    .action(async (file: string) => {
      const { packIndex } = await import("./pack-index.ts");
      const { text, sha256 } = await packIndex(await settings(), file);
      print(text);
      note(`sha256 ${sha256}`);
    });
  gallery
    .command("add-index")
    .helpGroup(OPERATORS)
    .description("publish the components of somebody else's index for every account, or its later version")
    .argument("<name>", "as you call it: acme")
    .argument("<url>", "where its file is")
    .requiredOption("--sha256 <hash>", "that the file must have; it is fetched now, and never again")
    .action((name: string, url: string, { sha256 }: { sha256: string }) =>
      run(async platform => {
        const { addIndex } = await import("../gallery/indexes.ts");
        const added = await addIndex(platform, { name, url, sha256 });
        await recordOfOperator(platform, {
          action: "gallery_index.added",
          thing: { id: name, name: added.title },
        });
        return added;
      }),
    );
  gallery
    .command("indexes")
    .helpGroup(OPERATORS)
    .description("list the indexes that were added, with their components")
    .action(() => run(async platform => (await import("../gallery/indexes.ts")).listIndexes(platform)));
  gallery
    .command("remove-index")
    .helpGroup(OPERATORS)
    .description("take the components of an index back; what is deployed with them goes on")
    .argument("<name>", "as indexes lists it")
    .action((name: string) =>
      run(async platform => {
        const { removeIndex } = await import("../gallery/indexes.ts");
        const removed = await removeIndex(platform, name);
        await recordOfOperator(platform, {
          action: "gallery_index.removed",
          thing: { id: name, name: null },
        });
        return removed;
      }),
    );
}
