/**
 * The keys of a package.json that decide which file an import resolves to. Packages are not trusted, so types are
 * checked.
 */
export interface PackageJson {
  name?: unknown;
  version?: unknown;
  main?: unknown;
  type?: unknown;
  exports?: unknown;
  imports?: unknown;
}

type Kind = "import" | "require";
const CONDITIONS: Record<Kind, Set<string>> = {
  import: new Set(["node", "import", "module-sync", "default"]),
  require: new Set(["node", "require", "module-sync", "default"]),
};

const isTable = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * Resolves Node's conditional exports and imports: returns the target of `subpath` (`.`, `./x`, `#x`), or null if the
 * package has none. A target with `..` or `node_modules` in its path counts as none.
 */
export function matchExports(table: unknown, subpath: string, kind: Kind): string | null {
  if (!isTable(table) || !Object.keys(table).some(key => /^[.#]/.test(key))) {
    return subpath === "." ? pick(table, "", kind) : null;
  }
  if (Object.hasOwn(table, subpath) && !subpath.includes("*")) return pick(table[subpath], "", kind);
  const patterns = Object.keys(table).filter(key => key.includes("*") || key.endsWith("/"));
  // The most specific pattern wins: the one with the longest text before the star.
  patterns.sort((a, b) => starOf(b) - starOf(a) || b.length - a.length);
  for (const pattern of patterns) {
    const [before = "", after = ""] = pattern.endsWith("/") ? [pattern, ""] : pattern.split("*");
    if (
      !subpath.startsWith(before) ||
      !subpath.endsWith(after) ||
      subpath.length < before.length + after.length
    )
      continue;
    const star = subpath.slice(before.length, subpath.length - after.length);
    if (star === "") continue;
    return pick(table[pattern], star, kind);
  }
  return null;
}

const starOf = (pattern: string): number => (pattern.endsWith("/") ? pattern.length : pattern.indexOf("*"));

function pick(target: unknown, star: string, kind: Kind): string | null {
  if (typeof target === "string") {
    const path = target.endsWith("/") ? target + star : target.replaceAll("*", () => star);
    const inner = path.startsWith("./") ? path.slice(2) : path;
    return /(^|[/\\])(\.\.?|node_modules)([/\\]|$)/i.test(inner) ? null : path;
  }
  if (Array.isArray(target)) {
    for (const one of target) {
      const found = pick(one, star, kind);
      if (found !== null) return found;
    }
    return null;
  }
  if (!isTable(target)) return null;
  for (const [condition, value] of Object.entries(target)) {
    if (!CONDITIONS[kind].has(condition)) continue;
    const found = pick(value, star, kind);
    if (found !== null || value === null) return found;
  }
  return null;
}
