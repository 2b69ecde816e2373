import { useLocation } from "preact-iso/router";
import { orgId } from "./shown-account";

export const BASE = "/dashboard";

/** Returns the address of a screen, with the shown account; empty values are left out. */
export function to(path: string, query: Record<string, string | undefined> = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...query, org: orgId.value ?? undefined })) {
    if (value) search.set(name, value);
  }
  const text = search.toString();
  return `${BASE}${path === "/" ? "" : path}${text ? `?${text}` : ""}`;
}

type Changes = Record<string, string | undefined>;

interface Filters {
  query: Record<string, string>;
  /** Changes filters in the address, and goes back to the first page; undefined and "" remove one. */
  set: (changes: Changes) => void;
  /** As `set`, for a text while it is typed: Back takes all of it back. */
  type: (changes: Changes) => void;
  clear: () => void;
  isFiltered: boolean;
  /** What narrows and sorts the list, without the page. */
  view: Record<string, string>;
}

const CURSORS = ["after", "before"];
/** The order of a list. */
const SORT = "sort";

/** The filters of a screen, which are all in the address; `names` are those that narrow its list. */
export function useFilters(names: string[]): Filters {
  const { path, query, route } = useLocation();
  // What narrows or pages a list is a step that Back takes back; what is open in it is none.
  const isStep = (name: string) => [...names, ...CURSORS, SORT].includes(name);
  const go = (next: Changes, isReplaced: boolean) => {
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries(next)) if (value) search.set(name, value);
    const text = search.toString();
    route(`${path}${text ? `?${text}` : ""}`, isReplaced);
  };
  const without = (left: string[]) =>
    Object.fromEntries(Object.entries(query).filter(([name]) => !left.includes(name)));
  const change = (changes: Changes, isReplaced: boolean) => {
    const names = Object.keys(changes);
    if (names.every(name => (changes[name] ?? "") === (query[name] ?? ""))) return;
    const isPaging = names.some(name => CURSORS.includes(name));
    go({ ...(isPaging ? query : without(CURSORS)), ...changes }, isReplaced);
  };
  return {
    query,
    set: changes => change(changes, !Object.keys(changes).some(isStep)),
    type: changes =>
      change(
        changes,
        Object.keys(changes).every(name => query[name]),
      ),
    clear: () => go(without([...names, ...CURSORS]), false),
    isFiltered: names.some(name => query[name]),
    view: Object.fromEntries(
      Object.entries(query).filter(([name, value]) => value && [...names, SORT].includes(name)),
    ),
  };
}

/** Returns an address of another site as a link's target, or undefined unless it is http or https. */
export function safeLink(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  return ["http:", "https:"].includes(new URL(url).protocol) ? url : undefined;
}
