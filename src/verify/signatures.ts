import type { RejectReason } from "./reasons.ts";
import { DOUBLED, type RequestValues } from "./request-values.ts";
import type { VerifyRule } from "./schema.ts";

/** More items than any sender has, so that a header can't ask for thousands of comparisons. */
const MAX_ITEMS = 16;

/**
 * Returns the texts that may be signatures of a request, at most a few, without their prefix. What other items hold, such as the time,
 * is noted in `values.items`.
 */
export function readSignatures(
  { signature }: Pick<VerifyRule, "signature">,
  values: RequestValues,
): { given: string[] } | { reason: RejectReason } {
  const given: string[] = [];
  let isPresent = false;
  for (const place of signature.at) {
    const text = values.first([place]);
    if (text === undefined) continue;
    if (text === DOUBLED) return { reason: "doubled" };
    isPresent = true;
    const items = signature.items === undefined ? [text] : text.split(signature.items, MAX_ITEMS + 1);
    if (items.length > MAX_ITEMS) return { reason: "malformed" };
    for (const item of items) {
      const [key, value] = divide(item.trim(), signature);
      if (key === undefined || key === signature.key) given.push(value);
      else values.items.set(key, values.items.has(key) ? DOUBLED : value);
    }
  }
  if (!isPresent) return { reason: "no-signature" };
  const { prefix = "" } = signature;
  const without = given.filter(text => text.startsWith(prefix)).map(text => text.slice(prefix.length));
  return without.length === 0 ? { reason: "malformed" } : { given: without };
}

/** Returns the key of an item and what follows it; no key for signatures that have none. */
function divide(
  item: string,
  { key, separator = "=" }: VerifyRule["signature"],
): [string | undefined, string] {
  if (key === undefined) return [undefined, item];
  const at = item.indexOf(separator);
  return at < 0 ? [item, ""] : [item.slice(0, at), item.slice(at + separator.length)];
}
