/**
 * What the command line reads of its user's machine. Apart from `config.ts`, which loads the queues and the drivers of the stores
 * to check every setting: most commands need none of that, and start in half the time.
 */
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { packageRoot } from "./lib/package-root.ts";

/** `npm start` keeps its settings in `.data/dev.env`, so that the command line needs none beside it. */
export function developmentSettings(environment: NodeJS.ProcessEnv): Record<string, string> {
  if (environment.MONGODB_URL || environment.REDIS_URL) return {};
  try {
    const lines = readFileSync(`${packageRoot}.data/dev.env`, "utf8").split("\n");
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

/** Returns the address and the API key of this project's `npm start`; both undefined if there was none. */
export function readDevelopmentStart() {
  const { PUBLIC_URL, HEADWATER_API_KEY } = developmentSettings(process.env);
  return { url: PUBLIC_URL, apiKey: HEADWATER_API_KEY };
}

/** Returns the folder in which the command line keeps a user's settings (XDG Base Directory). */
export function readUserConfigFolder(): string {
  const given = process.env.XDG_CONFIG_HOME ?? "";
  // The specification ignores relative ones.
  return join(isAbsolute(given) ? given : join(homedir(), ".config"), "headwater");
}

/** Returns the folder in which the command line keeps how far it is (XDG Base Directory). */
export function readUserStateFolder(): string {
  const given = process.env.XDG_STATE_HOME ?? "";
  return join(isAbsolute(given) ? given : join(homedir(), ".local/state"), "headwater");
}

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
