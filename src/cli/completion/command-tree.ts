import type { Command, Option } from "commander";
import { NamedArgument, NamedOption, type Names } from "../resources/names.ts";

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

/** What stands where a word is typed. */
export interface Place {
  /** What may stand there; null for no names. */
  names: Names | null;
  /** The options given before, by their attributes. */
  given: Map<string, string>;
}

/** Returns what stands behind these words, which need not be a whole command. */
export function placeBehind(program: Command, words: readonly string[]): Place {
  const given = new Map<string, string>();
  let command = program;
  let position = 0;
  /** An option that lacks its value. */
  let open: Option | undefined;
  for (const word of words) {
    if (open) {
      given.set(open.attributeName(), word);
      open = undefined;
      continue;
    }
    const [, flag = word, value] = /^(--[^=]+)=(.*)$/s.exec(word) ?? [];
    const option = command.options.find(({ long, short }) => long === flag || short === flag);
    const below = position === 0 ? command.commands.find(one => one.name() === word) : undefined;
    if (option && value !== undefined) given.set(option.attributeName(), value);
    else if (option?.required || option?.optional) open = option;
    else if (below) command = below;
    else if (!word.startsWith("-")) position += 1;
  }
  return { names: namesOf(open ?? command.registeredArguments[position]), given };
}

/** Returns which names an argument or an option may have; null for none. */
const namesOf = (place: unknown): Names | null =>
  place instanceof NamedArgument || place instanceof NamedOption ? place.names : null;

/** A part of a word in a shell: a character behind a backslash, or what is in quotes, which may be open still. */
const QUOTED = /\\(.)|'([^']*)'?|"((?:\\.|[^"\\])*)"?/gs;

/** Returns what a word means that was typed in a shell, whose variables and the like stay as they are. */
export const unquoted = (word: string): string =>
  word.replace(
    QUOTED,
    (_, escaped?: string, single?: string, double?: string) =>
      escaped ?? single ?? (double ?? "").replace(/\\(["$`\\])/g, "$1"),
  );
