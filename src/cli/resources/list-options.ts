import type { Command } from "commander";
import { parseLimit } from "./row-limit.ts";

/** Adds `--json` to a command. */
export const jsonOption = (command: Command): Command => command.option("--json", "print the API's JSON");

/** Adds `--ids` to a command that prints names. */
export const idsOption = (command: Command): Command =>
  command.option("--ids", "show ids, of which names are shown otherwise");

/** Adds the options of a list. */
export const listOptions = (command: Command, limit = 100): Command =>
  jsonOption(command).option("--limit <n>", "how many rows to show, newest first", parseLimit, limit);
