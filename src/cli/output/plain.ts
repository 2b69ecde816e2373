import { stripVTControlCharacters } from "node:util";

/** Characters that move a cursor, or that a terminal shows in another order than they are in. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]+/g;

/** Returns a text as one line without control characters, for a terminal. */
export const plain = (text: string): string => stripVTControlCharacters(text).replace(UNSEEN, " ");

/** As `plain`, at most `length` characters long. */
export function shortened(text: string, length: number): string {
  // What is cut off anyway need not be made plain.
  const line = plain(text.slice(0, length * 4));
  return line.length > length ? `${line.slice(0, length - 1)}…` : line;
}
