import { signal } from "@preact/signals";

/** The organization whose things are shown; null: the user's own account. Part of every address as `org`. */
export const orgId = signal<string | null>(new URLSearchParams(location.search).get("org"));
