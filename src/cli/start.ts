import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Command } from "commander";
import { AppError } from "../lib/errors.ts";
import { packageRoot } from "../lib/package-root.ts";

/** What starts everything: plain JavaScript, because in a checkout it runs before anything is built. */
interface Starter {
  serve: (given: { root: string; folder: string; args: string[] }) => Promise<void>;
}

const HELP = `
Starts MongoDB, Redis, the web process and one process for all queues, and prints a link that signs you in. Ctrl-C stops everything. The
settings and the stores' addresses are those of \`npm start\` (docs/design.md#first-start), from the environment or a file .env in the folder
of the data: that is .data/ of a checkout, and for an installed package ~/.local/share/headwater, or headwater/ in XDG_DATA_HOME.

  npx headwater start
  PORT=4000 npx headwater start`;

/** Adds `headwater start`; `folder` returns where its data is kept. */
export function startCommand(program: Command, folder: () => Promise<string>): void {
  program
    .command("start")
    .description("run all of Headwater on this machine, with its stores")
    .option("--processes", "start a worker process for each queue, as a big installation does")
    .option("--keep-stores", "leave MongoDB and Redis running at the end; the next start uses them")
    .addHelpText("after", HELP)
    .action(async (options: { processes?: boolean; keepStores?: boolean }) => {
      const starter = join(packageRoot, "script/lib/serve.mjs");
      if (!existsSync(starter)) {
        throw new AppError(
          "invalid",
          "a server is not part of this installation: npx headwater start runs one, and an image starts its processes itself",
        );
      }
      const { serve } = (await import(pathToFileURL(starter).href)) as Starter;
      const args = [
        ...(options.processes ? ["--processes"] : []),
        ...(options.keepStores ? ["--keep-stores"] : []),
      ];
      await serve({ root: packageRoot.replace(/[/\\]$/, ""), folder: await folder(), args });
      // What was started may have left timers; it has ended.
      process.exit();
    });
}
