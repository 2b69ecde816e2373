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

/** As `parseArgs`, but a negative number may follow its option, so that its own check rejects it; throws UsageError. */
export function parse<Config extends ParseArgsConfig>(config: Config): ReturnType<typeof parseArgs<Config>> {
  const args = config.args?.flatMap((arg, i, all) => {
    if (isNegative(arg) && isOption(all[i - 1])) return [];
    return isOption(arg) && isNegative(all[i + 1]) ? [`${arg}=${all[i + 1]}`] : [arg];
  });
  try {
    return parseArgs({ ...config, ...(args && { args }) } as Config);
  } catch (error) {
    throw new UsageError((error as Error).message.split("\n")[0]);
  }
}

const isOption = (arg: string | undefined) => arg !== undefined && /^--[^=]+$/.test(arg);
const isNegative = (arg: string | undefined) => arg !== undefined && /^-\d/.test(arg);

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
