import { patternInWords } from "./schemas.ts";

/** Returns the slug of a name: `My Source!` → `my-source`; `otherwise` if nothing of the name is left. */
export function slugOf(name: string, otherwise = "source"): string {
  const slug = name
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[\u0300-\u036f]/g, "")
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "");
  return slug || otherwise;
}

/** A slug, as `app` props name their app. */
export const APP_SLUG = patternInWords(
  "^[a-z0-9][a-z0-9_-]{0,63}$",
  "must be a slug: at most 64 lower-case letters, digits, - and _, with a letter or digit first",
);
