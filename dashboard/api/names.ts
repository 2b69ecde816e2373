import { signal } from "@preact/signals";
import { orgId } from "../lib/shown-account";
import type { Cursor, Page } from "./client";
import { readRows } from "./pages";
import { inAccount } from "./session";

interface Named {
  id: string;
  name: string | null;
  url?: string;
}

/** Names of the account's sources, webhooks, destinations and workflows by id: lists show names, the API has ids. */
export const names = signal<Record<string, string>>({});

const FRESH_MS = 30_000;
/** By account, when its names were read. */
const first = { account: "", at: 0 };
const all = { account: "", at: 0 };

function isFresh(mark: typeof first): boolean {
  const account = orgId.value ?? "me";
  if (account === mark.account && Date.now() - mark.at < FRESH_MS) return true;
  Object.assign(mark, { account, at: Date.now() });
  return false;
}

const NEWEST = 100;
const MOST = 5000;

/** Reads the names of the shown account, unless they were read a moment ago. The newest 100 of each kind. */
export function loadNames(): void {
  if (!isFresh(first)) load(NEWEST);
}

/** Reads the names of further pages, too: for those who look for a thing by its name. */
export function loadAllNames(): void {
  if (!isFresh(all)) load(MOST);
}

function load(most: number): void {
  const { sources, webhooks, destinations, workflows } = inAccount();
  const lists: ((cursor: Cursor) => PromiseLike<Page<Named>>)[] = [
    cursor => sources.list(cursor),
    cursor => webhooks.list(cursor),
    cursor => destinations.list(cursor),
    cursor => workflows.list(cursor),
  ];
  // Ids are shown where no name is known.
  for (const list of lists) readRows(list, { most, onPage: (_, page) => put(page) }).catch(() => undefined);
}

function put(rows: Named[]): void {
  const found = rows.map(({ id, name, url }) => [id, name || url || id] as const);
  names.value = { ...names.value, ...Object.fromEntries(found) };
}

/** The name of a thing, else its id. */
export const nameOf = (id: string): string => {
  if (id === "dc_*") return "All sources";
  if (id === "p_*") return "All workflows";
  return names.value[id] ?? id;
};
