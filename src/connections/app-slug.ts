import { patternInWords } from "../lib/schemas.ts";

/** A slug, as `app` props name their app. */
export const APP_SLUG = patternInWords(
  "^[a-z0-9][a-z0-9_-]{0,63}$",
  "must be a slug: at most 64 lower-case letters, digits, - and _, with a letter or digit first",
);
