import { type Command, Option } from "commander";
import type { Headwater } from "../../../clients/typescript/src/index.ts";
import { UsageError } from "../usage-error.ts";
import { type Access, accessOf, type Choice, type DevelopmentStart } from "./access.ts";
import { explain } from "./explain.ts";
import { readProfiles } from "./profiles.ts";

/** What commands for any server need of this machine. */
export interface RemoteTools {
  /** Returns the folder of the user's settings. */
  configFolder: () => Promise<string>;
  /** Returns the address and key of this project's `npm start`, if there is one. */
  developmentStart: () => Promise<DevelopmentStart>;
}

/** The server of a command, and what it was called with. */
export interface Remote<Options> {
  client: Headwater;
  access: Access;
  options: Options;
}

interface AccessOptions {
  url?: string;
  key?: string;
  profile?: string;
  org?: string;
}

/** Adds the options that choose a server. */
export function accessOptions(command: Command): Command {
  return command
    .addOption(
      new Option("--profile <name>", "server and key, as headwater login kept them").env("HEADWATER_PROFILE"),
    )
    .addOption(new Option("--url <api>", "address of the server").env("HEADWATER_URL"))
    .addOption(new Option("--key <key>", "API key").env("HEADWATER_API_KEY"))
    .addOption(new Option("--org <id>", "o_…: the organization whose things are meant"));
}

/**
 * Gives a command the options that choose a server, and an action that gets a client of it and the command's arguments.
 * An error of the client becomes an AppError of one line.
 */
export function remoteAction<Options = object>(
  command: Command,
  tools: RemoteTools,
  work: (remote: Remote<Options>, ...given: string[]) => Promise<void>,
): Command {
  return accessOptions(command).action(async (...given: unknown[]) => {
    const self = given.at(-1) as Command;
    const options = given.at(-2) as Options;
    const access = await chooseAccess(self, tools);
    const { clientFor } = await import("./client.ts");
    try {
      await work({ client: clientFor(access), access, options }, ...(given.slice(0, -2) as string[]));
    } catch (error) {
      throw explain(error, access.url);
    }
  });
}

/** Returns the server and key that a command with `accessOptions` means. Throws AppError `invalid`. */
export async function chooseAccess(command: Command, tools: RemoteTools): Promise<Access> {
  const profiles = await readProfiles(await tools.configFolder());
  return accessOf(choiceOf(command), profiles, await tools.developmentStart());
}

/** Returns what a command with `accessOptions` was given, behind it or before all commands. */
export function choiceOf(command: Command): Choice {
  const from = (source: string) => ({
    url: givenTo(command, "url", source),
    key: givenTo(command, "key", source),
    profile: givenTo(command, "profile", source),
  });
  return { option: from("cli"), environment: from("env"), orgId: givenTo(command, "org", "cli") };
}

/** Returns an option that chooses a server; what is nearer to the command's arguments counts. */
export function givenTo(command: Command, name: keyof AccessOptions, source = "cli"): string | undefined {
  const given = [command, rootOf(command)].find(one => one.getOptionValueSource(name) === source);
  return given?.opts<AccessOptions>()[name] || undefined;
}

const rootOf = (command: Command): Command => (command.parent === null ? command : rootOf(command.parent));

const ACCESS = ["url", "key", "profile", "org"] as const satisfies (keyof AccessOptions)[];

/** Throws UsageError if a server was chosen before a command that has no use for it. */
export function rejectUnusedAccess(program: Command, command: Command): void {
  const unused = ACCESS.find(
    name =>
      program.getOptionValueSource(name) === "cli" &&
      !command.options.some(option => option.attributeName() === name),
  );
  if (unused !== undefined) throw new UsageError(`--${unused}: ${command.name()} has no such option`);
}
