import type { Command } from "commander";
import type { Config } from "../../config.ts";
import { exitCodeOf, SetupError } from "../../lib/setup-error.ts";

const HELP = `
Run it before the processes of a new release start; those of the old one go on while it runs and after it. It may be run
again and at any moment, and be killed: what is done is done once. Two at once: the second waits. It needs the settings of
a process, and reaches MongoDB only. docs/upgrading.md has the steps of an upgrade.

  headwater migrate             # Procfile: release
  headwater migrate --status    # what the database has, and what would run

Exit code: 0 if there is nothing left to do now, 1 for an error, 78 for settings that can't be used and for a database that a
newer release has changed so that this one can't run on it.`;

export function migrateCommand(program: Command, readSettings: () => Promise<Config>): void {
  program
    .command("migrate")
    .description("bring the database to the schema of this release")
    .option("--dry-run", "print what would run, and change nothing")
    .option("--status", "the same")
    .addHelpText("after", HELP)
    .action(async ({ dryRun, status }: { dryRun?: boolean; status?: boolean }) => {
      const { migrateDatabase } = await import("./migrate-database.ts");
      try {
        await migrateDatabase(await readSettings(), dryRun || status ? "print" : "run");
      } catch (error) {
        if (!(error instanceof SetupError)) throw error;
        process.stderr.write(`headwater: ${error.message}\n`);
        process.exitCode = exitCodeOf(error);
      }
    });
}
