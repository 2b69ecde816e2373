/** Control characters, line breaks, halves of surrogate pairs, and marks that turn the direction of a text. */
const NOT_TEXT = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu;

/**
 * Returns a text, which may be anybody's, as one line of at most `most` characters: nothing in it can begin another line of
 * a mail, or look like one.
 */
export function lineOf(text: string, most: number): string {
  const characters = [
    ...text
      .slice(0, 4 * most)
      .replace(NOT_TEXT, " ")
      .trim(),
  ];
  return characters.length <= most ? characters.join("") : `${characters.slice(0, most - 1).join("")}…`;
}
