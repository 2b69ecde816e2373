import type { Command, Option } from "commander";
import { namesOf } from "./place.ts";

/** One option, as a shell completes it. */
export interface CompletedOption {
  /** `--json`, and perhaps `-f`. */
  names: string[];
  description: string;
  takesValue: boolean;
  /** The values it may have; empty for any. */
  choices: string[];
  /** Whether the value is one of the account's things. */
  takesName: boolean;
}

/** One command, as a shell completes what is behind it. */
export interface CompletedCommand {
  /** The words that lead here: empty for `headwater` itself. */
  path: string[];
  description: string;
  options: CompletedOption[];
  /** Whether an argument is one of the account's things. */
  takesName: boolean;
  subcommands: CompletedCommand[];
}

const HELP: CompletedOption = {
  names: ["--help", "-h"],
  description: "display help for command",
  takesValue: false,
  choices: [],
  takesName: false,
};

/** Returns a command with everything below it. */
export function commandTree(command: Command, path: string[] = []): CompletedCommand {
  const visible = new Set(command.createHelp().visibleCommands(command));
  return {
    path,
    description: command.description(),
    options: [...command.options.filter(({ hidden }) => !hidden).map(optionOf), HELP],
    takesName: command.registeredArguments.some(argument => namesOf(argument) !== null),
    subcommands: command.commands
      .filter(one => visible.has(one))
      .map(one => commandTree(one, [...path, one.name()])),
  };
}

/** Returns a command and all commands below it. */
export const flat = (tree: CompletedCommand): CompletedCommand[] => [tree, ...tree.subcommands.flatMap(flat)];

/** The last word of a command's path. */
export const nameOf = ({ path }: CompletedCommand): string => path.at(-1) ?? "";

function optionOf(option: Option): CompletedOption {
  const { long, short, description, required, optional, argChoices = [] } = option;
  const names = [long, short].filter(name => typeof name === "string");
  return {
    names,
    description,
    takesValue: required || optional,
    choices: [...argChoices],
    takesName: namesOf(option) !== null,
  };
}
