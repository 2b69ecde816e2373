import { newToken } from "../lib/ids.ts";

/** Returns the slug of a name: `My Source!` → `my-source`; `source` if nothing of the name is left. */
export function slugOf(name: string): string {
  const slug = name
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[\u0300-\u036f]/g, "")
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "");
  return slug || "source";
}

/** Returns the slug with six random characters, for an account that already has a source with the slug itself. */
export function withRandomSuffix(slug: string): string {
  return `${slug}-${newToken().slice(0, 6).toLowerCase()}`;
}
