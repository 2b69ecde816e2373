import { createInterface } from "node:readline/promises";
import type { Command } from "commander";
import { AppError } from "../lib/errors.ts";
import { UsageError } from "./usage-error.ts";

/** The option without which a command asks before it deletes. */
export interface Confirmed {
  yes?: boolean;
}

export const yesOption = (command: Command): Command =>
  command.option("-y, --yes", "do not ask; needed without a terminal");

/**
 * Asks at a terminal whether `what` is to be deleted. Throws AppError `invalid` unless that is so, and UsageError if it can't
 * be asked.
 */
export async function confirmDeletion(what: string, { yes = false }: Confirmed): Promise<void> {
  if (yes) return;
  if (!process.stdin.isTTY) throw new UsageError(`--yes: is needed without a terminal, to delete ${what}`);
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    // Ctrl D and Ctrl C end the terminal; the question is pending for ever then.
    const ended = new Promise<string>(resolve => terminal.once("close", () => resolve("")));
    const asked = terminal.question(`Delete ${what}? [y/N] `).catch(() => "");
    if (/^y(es)?$/i.test((await Promise.race([asked, ended])).trim())) return;
  } finally {
    terminal.close();
  }
  throw new AppError("invalid", "nothing was deleted");
}
