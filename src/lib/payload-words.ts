/** At least so long is a word that can be searched. */
const MIN_CHARS = 2;
/** Of one text in a payload only the beginning is read; so many values are looked at. */
const TEXT_CHARS = 1024;
const VALUES = 500;
/** Letters and digits, and what is in the middle of ids, addresses, amounts and times. */
const WORD = /[\p{L}\p{N}](?:[\p{L}\p{N}_]|[-@.+](?=[\p{L}\p{N}_])|(?<=\d):(?=\d))*/gu;

/** Returns the numbers of the words of a text, such as `order-17` or `ada@example.com`, in either case; each once. */
export const wordsOfText = (text: string): number[] => [...new Set(wordsIn(text).map(numberOf))];

/**
 * Returns the numbers of at most `most` words in the values of a payload; names of fields do not count. First those that
 * tell one payload from another, such as ids and addresses, then the others; of either, values near the top come first.
 * Times are left out unless there is room: a search has bounds in time.
 */
export function wordsOfPayload(payload: unknown, most: number): number[] {
  if (most === 0) return [];
  const telling = new Set<string>();
  const others = new Set<string>();
  const values: unknown[] = [payload];
  for (let at = 0; at < values.length && telling.size < most; at++) {
    const value = values[at];
    if (typeof value === "object" && value !== null) {
      const inner = Array.isArray(value) ? value : Object.values(value);
      values.push(...inner.slice(0, Math.max(0, VALUES - values.length)));
    } else if (typeof value === "string" || typeof value === "number") {
      for (const word of wordsIn(String(value))) (isTelling(word) ? telling : others).add(word);
    }
  }
  return [...new Set([...telling, ...others].slice(0, most).map(numberOf))];
}

/** Whether a word looks like an id, a number of something, or an address. */
const isTelling = (word: string): boolean =>
  word.length >= 4 && /[\d@]/.test(word) && !/^\d{4}-\d\d-\d\d|^[\d.]*\.[\d.]*$/.test(word);

const wordsIn = (text: string): string[] =>
  (text.slice(0, TEXT_CHARS).normalize("NFKC").toLowerCase().match(WORD) ?? []).filter(
    word => word.length >= MIN_CHARS,
  );

/**
 * The word's place in an index: 52 bits of two FNV-1a hashes. The word itself would make the index several times as large;
 * two words of one account share a number once in 10^15 pairs, and then only find too much.
 */
function numberOf(word: string): number {
  let a = 0x811c9dc5;
  let b = 0x9747b28c;
  for (let i = 0; i < word.length; i++) {
    const char = word.charCodeAt(i);
    a = Math.imul(a ^ char, 0x01000193);
    b = Math.imul(b ^ char ^ (i << 8), 0x01000193);
  }
  return (a >>> 0) * 2 ** 20 + (b >>> 12);
}
