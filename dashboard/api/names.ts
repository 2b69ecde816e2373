import { signal } from "@preact/signals";
import { http, read } from "./client";
import { orgId } from "./session";

/** Names of the account's sources, webhooks and workflows by id: lists show names, the API has ids. */
export const names = signal<Record<string, string>>({});

let loaded = "";
const FRESH_MS = 30_000;
let loadedAt = 0;

/** Reads the names of the shown account, unless they were read a moment ago. At most the newest 100 of each kind. */
export function loadNames(): void {
  const account = orgId.value ?? "me";
  if (account === loaded && Date.now() - loadedAt < FRESH_MS) return;
  loaded = account;
  loadedAt = Date.now();
  const query = { limit: 100 };
  const org = orgId.value;
  const params = { path: { org_id: org ?? "" }, query };
  const lists = org
    ? [
        http.GET("/orgs/{org_id}/sources", { params }),
        http.GET("/orgs/{org_id}/webhooks", { params }),
        http.GET("/orgs/{org_id}/workflows", { params }),
      ]
    : [
        http.GET("/users/me/sources", { params: { query } }),
        http.GET("/users/me/webhooks", { params: { query } }),
        http.GET("/users/me/workflows", { params: { query } }),
      ];
  for (const list of lists) {
    void read<{ data: { id: string; name: string | null; url?: string }[] }>(list).then(
      ({ data }) => put(data),
      // Ids are shown where no name is known.
      () => undefined,
    );
  }
}

function put(rows: { id: string; name: string | null; url?: string }[]): void {
  const found = rows.map(({ id, name, url }) => [id, name || url || id] as const);
  names.value = { ...names.value, ...Object.fromEntries(found) };
}

/** The name of a thing, else its id. */
export const nameOf = (id: string): string => {
  if (id === "dc_*") return "All sources";
  if (id === "p_*") return "All workflows";
  return names.value[id] ?? id;
};
