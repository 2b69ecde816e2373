/**
 * What the command line reads of its user's machine. Apart from `config.ts`, which loads the queues and the drivers of the stores
 * to check every setting: most commands need none of that, and start in half the time.
 */
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join, sep } from "node:path";
import { packageRoot } from "./lib/package-root.ts";

/**
 * Returns the folder in which a start on this machine keeps its data: that of the checkout, or the user's for an installed package
 * (XDG Base Directory), where another version finds it too.
 */
export function readStartFolder(): string {
  return packageRoot.includes(`${sep}node_modules${sep}`)
    ? userFolder("XDG_DATA_HOME", ".local/share")
    : join(packageRoot, ".data");
}

/** A start on this machine keeps its settings in `dev.env`, so that the command line needs none beside it. */
export function developmentSettings(environment: NodeJS.ProcessEnv): Record<string, string> {
  if (environment.MONGODB_URL || environment.REDIS_URL) return {};
  try {
    const lines = readFileSync(join(readStartFolder(), "dev.env"), "utf8").split("\n");
    const pairs = lines.map(line => /^([A-Z_]+)=(.*)$/.exec(line)).filter(match => match !== null);
    return Object.fromEntries(
      pairs.map(([, name = "", value = ""]) => [name, value.replace(/^"(.*)"$/, "$1")]),
    );
  } catch {
    return {};
  }
}

/** Whether the environment names the stores of an installation, as that of its operator does. */
export const hasStoreSettings = (): boolean => Boolean(process.env.MONGODB_URL);

/** Returns the address and the API key of the start on this machine; both undefined if there was none. */
export function readDevelopmentStart() {
  const { PUBLIC_URL, HEADWATER_API_KEY } = developmentSettings(process.env);
  return { url: PUBLIC_URL, apiKey: HEADWATER_API_KEY };
}

/** Returns Headwater's folder in one of its user's (XDG Base Directory), which a variable may name. */
function userFolder(variable: string, usual: string): string {
  const given = process.env[variable] ?? "";
  // The specification ignores relative ones.
  return join(isAbsolute(given) ? given : join(homedir(), usual), "headwater");
}

/** Returns the folder in which the command line keeps a user's settings. */
export const readUserConfigFolder = (): string => userFolder("XDG_CONFIG_HOME", ".config");

/** Returns the folder in which the command line keeps how far it is. */
export const readUserStateFolder = (): string => userFolder("XDG_STATE_HOME", ".local/state");

/** By one of these a runner of a Procfile (honcho, node-foreman; foreman and overmind) says which of its lines a process is. */
const RUNNERS = ["HONCHO_PROCESS_NAME", "FOREMAN_WORKER_NAME", "PS"];

/**
 * Returns true in a process of a runner that takes every line of a Procfile for one that stays, and ends all when one ends. A
 * platform that runs `release` by itself, before the others (Heroku, Dokku), says DYNO.
 */
export const isUnderRunner = (): boolean => !process.env.DYNO && RUNNERS.some(name => process.env[name]);

/** Returns what reads a variable that the user of the command line names; an empty one is there. */
export const readVariables =
  () =>
  (name: string): string | undefined =>
    process.env[name];
