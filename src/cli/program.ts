import { Command } from "commander";
import { version } from "../lib/versions.ts";
import { apiCommand } from "./api.ts";
import { applyCommand } from "./apply/command.ts";
import { appCommands } from "./apps.ts";
import { auditCommand } from "./audit.ts";
import { authoringCommands } from "./authoring/command.ts";
import { catalogueCommand } from "./catalogue/command.ts";
import { completionCommand } from "./completion/command.ts";
import { actionCommands, deployCommand } from "./deploy/command.ts";
import { devCommand } from "./dev/command.ts";
import type { LocalSettings } from "./dev/local-services.ts";
import { doctorCommand } from "./doctor/command.ts";
import { galleryIndexCommands } from "./gallery-indexes.ts";
import { importCommand } from "./import/command.ts";
import { listenCommand } from "./listen/command.ts";
import { mcpCommand } from "./mcp.ts";
import { migrateCommand } from "./migrate/command.ts";
import { openCommand } from "./open.ts";
import { emitCommand, organizationCommands, publishComponentCommands, userCommands } from "./operator.ts";
import { sayIfSlow } from "./output.ts";
import { publishCommand } from "./publish.ts";
import { pullCommand } from "./pull.ts";
import { loginCommand, logoutCommand } from "./remote/login.ts";
import { accessOptions, type RemoteTools, rejectUnusedAccess } from "./remote/remote-command.ts";
import {
  dashboardCommand,
  profileCommands,
  versionCommand,
  whoamiCommand,
} from "./remote/server-commands.ts";
import { agentCommands } from "./resources/agent.ts";
import { alertCommands } from "./resources/alert.ts";
import { attentionCommand, queuesCommand } from "./resources/attention.ts";
import { savedComponentCommands } from "./resources/component.ts";
import { connectionCommands } from "./resources/connection.ts";
import { deliveryCommands } from "./resources/delivery.ts";
import { destinationCommands } from "./resources/destination.ts";
import { galleryCommands } from "./resources/gallery.ts";
import { issueCommands } from "./resources/issue.ts";
import { keyCommands } from "./resources/key.ts";
import { invitationCommands, memberCommands } from "./resources/member.ts";
import { sourceCommands } from "./resources/source.ts";
import { subscriptionCommands } from "./resources/subscription.ts";
import { webhookCommands } from "./resources/webhook.ts";
import { workflowCommands } from "./resources/workflow.ts";
import type { Run, WithPlatform } from "./run.ts";
import { searchCommand } from "./search.ts";
import { secretsCommands } from "./secrets/command.ts";
import { startCommand } from "./start.ts";
import { traceCommand } from "./trace.ts";

// A command imports what it needs when it runs, so that `--help` need not load the drivers of both stores.

const withPlatform: WithPlatform = async work => {
  const { readConfig } = await import("../config.ts");
  const config = readConfig();
  const [{ openPlatform }, { createLogger }] = await Promise.all([
    import("../platform.ts"),
    import("../lib/logger.ts"),
  ]);
  const opening = openPlatform(config, "cli", { log: createLogger("cli", "silent") });
  const platform = await sayIfSlow("MongoDB and Redis", opening);
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

const tools: RemoteTools = {
  configFolder: async () => (await import("../user-environment.ts")).readUserConfigFolder(),
  developmentStart: async () => (await import("../user-environment.ts")).readDevelopmentStart(),
};

/** Throws ConfigError. */
async function localSettings(): Promise<LocalSettings> {
  const [{ readLocalConfig }, { sandboxLimits }, { namedHosts }] = await Promise.all([
    import("../config.ts"),
    import("../platform.ts"),
    import("../store/connections/store-hosts.ts"),
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

const HELP = `
Exit codes: 0 success, 1 an error, 2 wrong usage, 78 settings that can't be used. A server has the documentation
in its own version at /docs; docs/cli.md describes every command.`;

/** Returns an error with what commander suggests in the same line. */
const withSuggestion = (text: string): string => text.replace(/\n(?=\(Did you mean )/, " ");

/** The command line: what was asked for on stdout, errors on stderr; the exit code is that of `HELP`. */
export function createProgram(): Command {
  const program = new Command("headwater")
    .description(
      "Headwater's command line. Beside a running `headwater start` or `npm start`, no settings are needed.",
    )
    .version(version)
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(withSuggestion(text)) })
    .showHelpAfterError("(see --help)")
    .enablePositionalOptions()
    .addHelpText("after", HELP);
  accessOptions(program).hook("preAction", rejectUnusedAccess);
  program.commandsGroup("Server and profile:");
  loginCommand(program, tools);
  logoutCommand(program, tools);
  whoamiCommand(program, tools);
  profileCommands(program, tools);
  dashboardCommand(program, tools);
  keyCommands(program, {
    ...tools,
    run,
    hasStoreSettings: async () => (await import("../user-environment.ts")).hasStoreSettings(),
  });
  openCommand(program, tools);
  versionCommand(program, tools);
  completionCommand(program, tools);
  program.commandsGroup("Events, with an API key for any server:");
  sourceCommands(program, tools);
  webhookCommands(program, tools);
  destinationCommands(program, tools);
  actionCommands(program, tools);
  workflowCommands(program, tools);
  subscriptionCommands(program, tools);
  agentCommands(program, tools);
  deliveryCommands(program, tools);
  attentionCommand(program, tools);
  queuesCommand(program, tools);
  issueCommands(program, tools);
  alertCommands(program, tools);
  connectionCommands(program, tools);
  memberCommands(program, tools);
  invitationCommands(program, tools);
  galleryIndexCommands(galleryCommands(program, tools), run, localSettings);
  const variables = async () => (await import("../user-environment.ts")).readVariables();
  const component = savedComponentCommands(program, tools);
  authoringCommands(component, tools, { settings: localSettings, variables });
  publishComponentCommands(component, run);
  publishCommand(program, tools);
  searchCommand(program, tools);
  auditCommand(program, tools);
  traceCommand(program, tools);
  listenCommand(program, tools);
  pullCommand(program, tools);
  mcpCommand(program, tools);
  deployCommand(program, tools);
  applyCommand(program, tools, { variables });
  importCommand(program, variables);
  apiCommand(program, tools);
  catalogueCommand(program, tools, async () =>
    (await import("../user-environment.ts")).readUserStateFolder(),
  );
  program.commandsGroup("Without a server:");
  startCommand(program, async () => (await import("../user-environment.ts")).readStartFolder());
  devCommand(program, localSettings);
  program.commandsGroup(
    "For operators, who have the settings of the stores (MONGODB_URL, REDIS_URL, SECRETS_KEY):",
  );
  userCommands(program, run);
  organizationCommands(program, run);
  appCommands(program, run);
  emitCommand(program, run);
  doctorCommand(program, { withPlatform, readSettings });
  migrateCommand(program, readSettings);
  secretsCommands(program, withPlatform);
  return program;
}
