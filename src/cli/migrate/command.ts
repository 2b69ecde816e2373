import type { Command } from "commander";
import type { Config } from "../../config.ts";
import { isUnderRunner } from "../../user-environment.ts";
import { note } from "../output.ts";
import { stopSignal } from "../run.ts";

const HELP = `
Run it before the processes of a new release start. Processes of the old release continue while it runs, and after it. It may be
run at any time, repeated, and killed: it does not repeat a finished step. If two run at once, the second waits for the first. It needs the
settings of a process, and connects only to MongoDB. docs/upgrading.md has the steps of an upgrade.

  headwater migrate               # Procfile: release; under foreman, honcho or overmind it then stays until they end it
  headwater migrate --status      # what the database has, and what would run
  headwater migrate --contract    # once no process of an older release is running: also removes what only those need

Exit code: 0 if nothing is left to do now, 1 for an error, 78 for settings that can't be used, or for a database that a newer
release has changed so that this release can't use it.`;

export function migrateCommand(program: Command, readSettings: () => Promise<Config>): void {
  program
    .command("migrate")
    .description("bring the database to the schema of this release")
    .option("--dry-run", "print what would run, and change nothing")
    .option("--status", "the same as --dry-run")
    .option("--contract", "also remove what only older releases need: none of their processes may be running")
    .addHelpText("after", HELP)
    .action(
      async ({ dryRun, status, contract }: Record<"dryRun" | "status" | "contract", true | undefined>) => {
        const { migrateDatabase } = await import("./migrate-database.ts");
        const options = { isDryRun: Boolean(dryRun || status), mayContract: contract === true };
        await migrateDatabase(await readSettings(), options);
        if (!options.isDryRun && isUnderRunner()) await untilEnded();
      },
    );
}

/** A runner of the Procfile would end all processes with this one. */
async function untilEnded(): Promise<void> {
  note("Stays until the runner of the Procfile ends it, which would end all processes with this one.");
  const signal = stopSignal();
  // A signal alone does not keep a process alive.
  const alive = setInterval(() => undefined, 2 ** 30);
  await new Promise(resolve => signal.addEventListener("abort", resolve, { once: true }));
  clearInterval(alive);
}
