const KEY = "headwater-views";
/** The oldest are lost beyond. */
const MOST = 100;

/** The filters of a list under a name. */
export interface SavedView {
  /** The path of the list. */
  path: string;
  /** The organization whose things it lists; "" for the user's own. */
  org: string;
  name: string;
  query: Record<string, string>;
}

const isView = (value: unknown): value is SavedView => {
  const { path, org, name, query } = (value ?? {}) as Partial<SavedView>;
  return (
    [path, org, name].every(text => typeof text === "string") && typeof query === "object" && query !== null
  );
};

/** Returns the views that this browser keeps; none of what it can't read. */
export function readViews(): SavedView[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(kept) ? kept.filter(isView) : [];
  } catch {
    return [];
  }
}

export const writeViews = (views: SavedView[]): void =>
  localStorage.setItem(KEY, JSON.stringify(views.slice(-MOST)));
