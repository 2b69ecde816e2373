import type { Command, Option } from "commander";
import { NamedArgument, NamedOption, type Names } from "../resources/names.ts";

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
export const namesOf = (place: unknown): Names | null =>
  place instanceof NamedArgument || place instanceof NamedOption ? place.names : null;
