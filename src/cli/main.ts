import { Command, CommanderError } from "commander";
import { readConfig, version } from "../config.ts";
import { AppError } from "../errors.ts";
import { createLogger } from "../logger.ts";
import { openPlatform } from "../platform.ts";
import { componentCommands } from "./component.ts";
import { emitCommand } from "./emit.ts";
import { keyCommands } from "./key.ts";
import { organizationCommands } from "./organization.ts";
import type { Run } from "./run.ts";
import { userCommands } from "./user.ts";
import { workflowCommands } from "./workflow.ts";

const run: Run = async work => {
  const config = readConfig();
  const platform = await openPlatform(config, "cli", { log: createLogger("cli", "silent") });
  try {
    process.stdout.write(`${JSON.stringify(await work(platform), null, 2)}\n`);
  } finally {
    await platform.close();
  }
};

/** The command line: JSON on stdout, errors on stderr; exit code 2 for bad use, 1 for a refusal. */
export function createProgram(): Command {
  const program = new Command("headwater")
    .description(
      "Headwater's operator commands. Settings are the server's own; beside a running `npm start` none are needed.",
    )
    .version(version)
    .exitOverride()
    .showHelpAfterError("(--help tells how)");
  userCommands(program, run);
  keyCommands(program, run);
  organizationCommands(program, run);
  workflowCommands(program, run);
  emitCommand(program, run);
  componentCommands(program, run);
  return program;
}

/** One line, whatever a component or a store put into its message. */
function lineOf(error: unknown): string {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  const said = message.replace(/\s*\n\s*/g, " / ");
  // The driver's own words name an address, and not whose it is.
  return name.startsWith("Mongo") ? `MongoDB did not answer (${said})` : said;
}

try {
  await createProgram().parseAsync();
} catch (error) {
  if (error instanceof CommanderError) process.exit(error.exitCode === 0 ? 0 : 2);
  process.stderr.write(`headwater: ${lineOf(error)}\n`);
  process.exit(error instanceof AppError || error instanceof Error ? 1 : 70);
}
