import { type ParseArgsConfig, parseArgs } from "node:util";

/** A command line that can't be used; the message is the one line that a person reads. */
export class UsageError extends Error {}

/** Runs one of the benchmarks with the command line's words, and sets the exit code: 2 for bad use. */
export async function runEntry(help: string, main: (args: string[]) => Promise<void>): Promise<void> {
  const args = process.argv.slice(2);
  if (args.includes("--help")) return console.log(help);
  try {
    await main(args);
  } catch (error) {
    console.error(error instanceof UsageError ? `bench: ${error.message} (--help tells how)` : error);
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
  if (!/^[1-9][0-9]*$/.test(text)) throw new UsageError(`${what} takes a number from 1 on`);
  return Number(text);
}

/** NAME and VALUE of a `--set`. */
export function settingOf(text: string): [string, string] {
  const at = text.indexOf("=");
  if (at < 1) throw new UsageError(`--set takes NAME=VALUE, not "${text}"`);
  return [text.slice(0, at), text.slice(at + 1)];
}
