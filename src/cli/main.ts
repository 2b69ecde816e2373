import { Command, CommanderError } from "commander";
import { AppError } from "../lib/errors.ts";
import { version } from "../lib/version.ts";
import { componentCommands } from "./component.ts";
import { deployCommand } from "./deploy/command.ts";
import { devCommand } from "./dev/command.ts";
import type { LocalSettings } from "./dev/local-services.ts";
import { doctorCommand } from "./doctor/command.ts";
import { emitCommand } from "./emit.ts";
import { keyCommands } from "./key.ts";
import { loginCommand } from "./login.ts";
import { organizationCommands } from "./organization.ts";
import { publishCommand } from "./publish/command.ts";
import type { Run, WithPlatform } from "./run.ts";
import { traceCommand } from "./trace/command.ts";
import { userCommands } from "./user.ts";
import { workflowCommands } from "./workflow.ts";

// A command imports what it needs when it runs, so that `--help` need not load the drivers of both stores.

const withPlatform: WithPlatform = async work => {
  const { readConfig } = await import("../config.ts");
  const config = readConfig();
  const [{ openPlatform }, { createLogger }] = await Promise.all([
    import("../platform.ts"),
    import("../lib/logger.ts"),
  ]);
  const platform = await openPlatform(config, "cli", { log: createLogger("cli", "silent") });
  try {
    return await work(platform);
  } finally {
    await platform.close();
  }
};

const run: Run = async work => {
  process.stdout.write(`${JSON.stringify(await withPlatform(work), null, 2)}\n`);
};

/** Throws ConfigError. */
const readSettings = async () => (await import("../config.ts")).readConfig();

const developmentStart = async () => (await import("../config.ts")).readDevelopmentStart();

/** Throws ConfigError. */
async function localSettings(): Promise<LocalSettings> {
  const [{ readLocalConfig }, { sandboxLimits }, { namedHosts }] = await Promise.all([
    import("../config.ts"),
    import("../platform.ts"),
    import("../store/store-hosts.ts"),
  ]);
  const config = readLocalConfig();
  const {
    cacheDir,
    npmEnvironment,
    npmrc,
    npmHosts,
    sandbox,
    httpResponseWaitMs,
    egress,
    egressAllow,
    sandboxEgressAllow,
  } = config;
  return {
    version,
    cacheDir,
    npmEnvironment,
    npmrc,
    npmHosts,
    limits: sandboxLimits(config),
    hookMs: sandbox.hookMs,
    httpResponseWaitMs,
    egress,
    egressAllow,
    sandboxEgressAllow,
    blockedHosts: namedHosts(config),
  };
}

/** The command line: JSON on stdout, errors on stderr; exit code 2 for wrong usage, 1 for an error. */
export function createProgram(): Command {
  const program = new Command("headwater")
    .description(
      "Headwater's command line. It uses the server's settings; beside a running `npm start`, none are needed.",
    )
    .version(version)
    .exitOverride()
    .showHelpAfterError("(see --help)");
  userCommands(program, run);
  keyCommands(program, run);
  loginCommand(program, developmentStart);
  organizationCommands(program, run);
  workflowCommands(program, run);
  emitCommand(program, run);
  publishCommand(program, developmentStart);
  componentCommands(program, run);
  devCommand(program, localSettings);
  traceCommand(program, developmentStart);
  doctorCommand(program, { withPlatform, readSettings });
  deployCommand(program, { withPlatform, developmentStart });
  return program;
}

/** Returns the message in one line, even if a component or a store put several lines into it. */
function lineOf(error: unknown): string {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  const text = message.replace(/\s*\n\s*/g, " / ");
  // The driver's message contains an address but does not mention MongoDB.
  return name.startsWith("Mongo") ? `MongoDB did not respond (${text})` : text;
}

try {
  await createProgram().parseAsync();
} catch (error) {
  if (error instanceof CommanderError) process.exit(error.exitCode === 0 ? 0 : 2);
  process.stderr.write(`headwater: ${lineOf(error)}\n`);
  process.exit(error instanceof AppError || error instanceof Error ? 1 : 70);
}
