import { type ParseArgsConfig, parseArgs } from "node:util";

/** An invalid command line; the message is the one line that is printed. */
export class UsageError extends Error {}

/** Runs a benchmark, or another command of that name, with the arguments of the command line, and sets the exit code: 2 for invalid arguments. */
export async function runEntry(
  help: string,
  main: (args: string[]) => Promise<void>,
  name = "bench",
): Promise<void> {
  const args = process.argv.slice(2);
  if (args.includes("--help")) return console.log(help);
  try {
    await main(args);
  } catch (error) {
    console.error(error instanceof UsageError ? `${name}: ${error.message} (see --help)` : error);
    process.exitCode = error instanceof UsageError ? 2 : 1;
  }
}

/** As `parseArgs`; throws UsageError. */
export function parse<Config extends ParseArgsConfig>(config: Config): ReturnType<typeof parseArgs<Config>> {
  try {
    return parseArgs(config);
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

export function positive(text: string, what: string): number {
  if (!/^[1-9][0-9]*$/.test(text)) throw new UsageError(`${what} must be a whole number of at least 1`);
  return Number(text);
}

/** Splits a `--set` into name and value. Throws UsageError. */
export function settingOf(text: string): [string, string] {
  const at = text.indexOf("=");
  if (at < 1) throw new UsageError(`--set must be NAME=VALUE, not "${text}"`);
  return [text.slice(0, at), text.slice(at + 1)];
}
