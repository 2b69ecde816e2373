/** Splits `a,b,c`; blanks around the commas are dropped, and an empty text is an empty list. */
export const splitList = (text: string): string[] =>
  text
    .split(",")
    .map(word => word.trim())
    .filter(Boolean);
