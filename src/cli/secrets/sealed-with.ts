import type { SealedFields } from "../../models/sealed-fields.ts";
import type { Secrets } from "../../store/secrets.ts";

/** Selects the rows that have a sealed text with none of these beginnings. */
export function withoutBeginnings({ fields, lists }: SealedFields, beginnings: readonly string[]): object {
  // Key ids are base64url, and so are without a character that means something to a regular expression.
  const $not = new RegExp(`^(${beginnings.map(text => text.replaceAll(".", "\\.")).join("|")})`);
  return {
    $or: [
      ...fields.map(field => ({ [field]: { $type: "string", $not } })),
      ...lists.map(({ list, field }) => ({ [list]: { $elemMatch: { [field]: { $type: "string", $not } } } })),
    ],
  };
}

/** Returns the text under the first key, itself if it is already, and null if no key can read it. */
export function resealed(secrets: Secrets, sealed: string): string | null {
  if (sealed.startsWith(secrets.beginnings[0])) return sealed;
  try {
    return secrets.seal(secrets.open(sealed));
  } catch {
    return null;
  }
}
