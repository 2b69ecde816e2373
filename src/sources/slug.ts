import { newToken } from "../lib/ids.ts";

/** `My Source!` → `my-source`. */
export function slugOf(name: string): string {
  const slug = name
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[\u0300-\u036f]/g, "")
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "");
  return slug || "source";
}

/** The slug with an ending that no other source has, for when the plain one is taken. */
export function anotherSlug(slug: string): string {
  return `${slug}-${newToken().slice(0, 6).toLowerCase()}`;
}
