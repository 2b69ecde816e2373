import type { Command, Option } from "commander";

/** One option, as a shell completes it. */
export interface CompletedOption {
  /** `--json`, and perhaps `-f`. */
  names: string[];
  description: string;
  takesValue: boolean;
  /** The values it may have; empty for any. */
  choices: string[];
}

/** One command, as a shell completes what is behind it. */
export interface CompletedCommand {
  /** The words that lead here: empty for `headwater` itself. */
  path: string[];
  description: string;
  options: CompletedOption[];
  subcommands: CompletedCommand[];
}

const HELP: CompletedOption = {
  names: ["--help", "-h"],
  description: "display help for command",
  takesValue: false,
  choices: [],
};

/** Returns a command with everything below it. */
export function commandTree(command: Command, path: string[] = []): CompletedCommand {
  return {
    path,
    description: command.description(),
    options: [...command.options.filter(({ hidden }) => !hidden).map(optionOf), HELP],
    subcommands: command.commands.map(one => commandTree(one, [...path, one.name()])),
  };
}

/** Returns a command and all commands below it. */
export const flat = (tree: CompletedCommand): CompletedCommand[] => [tree, ...tree.subcommands.flatMap(flat)];

/** The last word of a command's path. */
export const nameOf = ({ path }: CompletedCommand): string => path.at(-1) ?? "";

function optionOf({
  long,
  short,
  description,
  required,
  optional,
  argChoices = [],
}: Option): CompletedOption {
  const names = [long, short].filter(name => typeof name === "string");
  return { names, description, takesValue: required || optional, choices: [...argChoices] };
}
