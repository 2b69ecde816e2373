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

interface Filters {
  query: Record<string, string>;
  /** Changes filters in the address, and goes back to the first page; undefined and "" remove one. */
  set: (changes: Record<string, string | undefined>) => void;
  clear: () => void;
  isFiltered: boolean;
}

const CURSORS = ["after", "before"];

/** The filters of a screen, which are all in the address; `names` are those that narrow its list. */
export function useFilters(names: string[]): Filters {
  const { path, query, route } = useLocation();
  // What narrows or pages a list is a step that Back takes back; what is open in it is none.
  const isStep = (name: string) => names.includes(name) || CURSORS.includes(name);
  const go = (next: Record<string, string | undefined>, isReplaced: boolean) => {
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries(next)) if (value) search.set(name, value);
    const text = search.toString();
    route(`${path}${text ? `?${text}` : ""}`, isReplaced);
  };
  const without = (left: string[]) =>
    Object.fromEntries(Object.entries(query).filter(([name]) => !left.includes(name)));
  return {
    query,
    set: changes => {
      const isPaging = Object.keys(changes).some(name => CURSORS.includes(name));
      go({ ...(isPaging ? query : without(CURSORS)), ...changes }, !Object.keys(changes).some(isStep));
    },
    clear: () => go(without([...names, ...CURSORS]), false),
    isFiltered: names.some(name => query[name]),
  };
}

/** Returns an address of another site as a link's target, or undefined unless it is http or https. */
export function safeLink(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  return ["http:", "https:"].includes(new URL(url).protocol) ? url : undefined;
}
