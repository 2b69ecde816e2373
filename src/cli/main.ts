import "../lib/require-node.ts";

import { type Command, CommanderError } from "commander";
import { exitCodeOf } from "../lib/errors.ts";
import { UsageError } from "./input.ts";
import { plain } from "./output.ts";
import { createProgram } from "./program.ts";

/** Returns the message in one plain line, even if a component or a store put several lines or control characters into it. */
function lineOf(error: unknown): string {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  const text = plain(message.replace(/\s*\n\s*/g, " / "));
  // The driver's message contains an address but does not mention MongoDB.
  return name.startsWith("Mongo") ? `MongoDB did not respond (${text})` : text;
}

/** Returns what was typed as the command that it means. */
function asCommand(program: Command, given: string[]): string[] {
  const [first = "", ...rest] = given;
  // What commander prints for it is this version only.
  if (rest.length === 0 && /^(-V|--version)$/.test(first)) return ["version"];
  // Its own `help` knows only the first word.
  if (first === "help" && isCommand(program, rest)) return [...rest, "--help"];
  return first === "help" ? rest : given;
}

/** Whether these words lead to a command; if not, commander names the first that is unknown. */
const isCommand = (command: Command, [word, ...rest]: string[]): boolean => {
  const next = command.commands.find(one => one.name() === word);
  return word === undefined || (next !== undefined && isCommand(next, rest));
};

// `headwater source list | head` closes the pipe before the end.
process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));

try {
  const given = process.argv.slice(2);
  const program = createProgram();
  await program.parseAsync(asCommand(program, given), { from: "user" });
} catch (error) {
  if (error instanceof CommanderError) process.exit(error.exitCode === 0 ? 0 : 2);
  process.stderr.write(`headwater: ${lineOf(error)}\n`);
  process.exit(error instanceof UsageError ? 2 : exitCodeOf(error));
}
