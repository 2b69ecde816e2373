/** A part of a word in a shell: a character behind a backslash, or what is in quotes, which may be open still. */
const QUOTED = /\\(.)|'([^']*)'?|"((?:\\.|[^"\\])*)"?/gs;

/** Returns what a word means that was typed in a shell, whose variables and the like stay as they are. */
export const unquoted = (word: string): string =>
  word.replace(
    QUOTED,
    (_, escaped?: string, single?: string, double?: string) =>
      escaped ?? single ?? (double ?? "").replace(/\\(["$`\\])/g, "$1"),
  );
