import { readFile, realpath, stat } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import { isObject } from "../lib/json.ts";
import { LIMITS } from "../limits/catalogue.ts";
import { isBuiltinModule } from "./specifier.ts";

/** Conditional exports may resolve to different files for `import` and `require`. */
export type ImportKind = "import" | "require";

export type Resolved =
  | { kind: "file"; path: string; format: "esm" | "cjs" | "json" }
  | { kind: "builtin"; name: string };

const MAX_FILE_BYTES = LIMITS.packageFileBytes.value;
const EXTENSIONS = ["", ".js", ".json", ".cjs", ".mjs", ".node"];

/** A file is outside of the folder with the packages, or is too large. */
export class OutsideFolderError extends Error {}

/**
 * Node's module resolution, confined to one folder with packages (`<folder>/node_modules/…`). It never reads above the
 * folder or follows a symlink out of it. esbuild's own resolver would reach the server's node_modules and package.json.
 */
export class PackageFolder {
  readonly #folder: string;
  readonly #manifests = new Map<string, Promise<PackageJson | null>>();
  readonly #kinds = new Map<string, Promise<"file" | "folder" | null>>();

  /** @param folder a real path without symlinks */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * Resolves an import of the component's own files, by the name of the package's folder. Returns null if there is no
   * such file.
   */
  async resolveFromComponent(
    folderName: string,
    subpath: string,
    kind: ImportKind,
  ): Promise<Resolved | null> {
    return this.#withFormat(
      await this.#resolveInPackage(join(this.#folder, "node_modules", folderName), subpath, kind),
    );
  }

  /** Resolves an import of a package's file. Returns null if there is no such file. Throws OutsideFolderError. */
  async resolveFromPackage(importer: string, specifier: string, kind: ImportKind): Promise<Resolved | null> {
    if (isBuiltinModule(specifier)) return { kind: "builtin", name: specifier.replace(/^node:/, "") };
    if (/^\.{1,2}(\/|$)/.test(specifier))
      return this.#withFormat(await this.#resolvePath(join(dirname(importer), specifier)));
    if (specifier.startsWith("#")) return this.#resolveInternal(importer, specifier, kind);
    const [, name = "", subpath = ""] = /^((?:@[^/]+\/)?[^/@.\\:][^/\\:]*)(?:\/(.*))?$/.exec(specifier) ?? [];
    if (name === "") return null;
    return this.#withFormat(await this.#resolveBare(importer, name, subpath, kind));
  }

  /** Returns the text of a resolved file. Throws OutsideFolderError. */
  async read(path: string): Promise<string> {
    await this.#checkPath(path);
    return readFile(path, "utf8");
  }

  async #resolveInternal(importer: string, specifier: string, kind: ImportKind): Promise<Resolved | null> {
    const root = await this.#packageOf(importer);
    const target =
      root === null ? null : matchExports((await this.#manifest(root))?.imports, specifier, kind);
    if (root === null || target === null) return null;
    if (target.startsWith("./")) return this.#withFormat(await this.#resolvePath(join(root, target)));
    return this.resolveFromPackage(importer, target, kind);
  }

  async #resolveBare(
    importer: string,
    name: string,
    subpath: string,
    kind: ImportKind,
  ): Promise<string | null> {
    const own = await this.#packageOf(importer);
    const manifest = own === null ? null : await this.#manifest(own);
    if (own !== null && manifest?.name === name && manifest.exports !== undefined) {
      return this.#resolveInPackage(own, subpath, kind);
    }
    for (let at = dirname(importer); this.#contains(at); at = dirname(at)) {
      const found = join(at, "node_modules", name);
      if (!at.endsWith(`${sep}node_modules`) && (await this.#kindOf(found)) === "folder") {
        return this.#resolveInPackage(found, subpath, kind);
      }
    }
    return null;
  }

  async #resolveInPackage(root: string, subpath: string, kind: ImportKind): Promise<string | null> {
    const manifest = await this.#manifest(root);
    if (manifest?.exports === undefined || manifest.exports === null) {
      return this.#resolvePath(subpath === "" ? root : join(root, subpath));
    }
    const target = matchExports(manifest.exports, subpath === "" ? "." : `./${subpath}`, kind);
    return target === null || !target.startsWith("./") ? null : this.#resolvePath(join(root, target));
  }

  /** Resolves a path to a file, a file without its extension, or a folder with a main file; `x/` means a folder. */
  async #resolvePath(given: string): Promise<string | null> {
    const path = given.replace(/\/+$/, "");
    for (const extension of path === given ? EXTENSIONS : []) {
      if ((await this.#kindOf(path + extension)) === "file") return path + extension;
    }
    if ((await this.#kindOf(path)) !== "folder") return null;
    const main = (await this.#manifest(path))?.main;
    const named = typeof main === "string" && main !== "" ? join(path, main) : null;
    if (named?.startsWith(path + sep)) {
      const found = await this.#resolvePath(named);
      if (found !== null) return found;
    }
    for (const index of ["index.js", "index.json", "index.mjs", "index.cjs"]) {
      if ((await this.#kindOf(join(path, index))) === "file") return join(path, index);
    }
    return null;
  }

  async #withFormat(path: string | null): Promise<Resolved | null> {
    if (path === null) return null;
    if (path.endsWith(".json")) return { kind: "file", path, format: "json" };
    if (/\.m[jt]s$/.test(path)) return { kind: "file", path, format: "esm" };
    if (/\.c[jt]s$/.test(path)) return { kind: "file", path, format: "cjs" };
    const root = await this.#packageOf(path);
    const type = root === null ? undefined : (await this.#manifest(root))?.type;
    return { kind: "file", path, format: type === "module" ? "esm" : "cjs" };
  }

  /** Returns the nearest folder above a file that contains a package.json. */
  async #packageOf(file: string): Promise<string | null> {
    for (let at = dirname(file); this.#contains(at) && at !== this.#folder; at = dirname(at)) {
      if ((await this.#manifest(at)) !== null) return at;
    }
    return null;
  }

  #manifest(root: string): Promise<PackageJson | null> {
    const path = join(root, "package.json");
    const known = this.#manifests.get(path);
    if (known !== undefined) return known;
    const reading = this.#kindOf(path).then(async kind => {
      if (kind !== "file") return null;
      try {
        const parsed: unknown = JSON.parse(await this.read(path));
        return typeof parsed === "object" ? (parsed as PackageJson) : null;
      } catch {
        return null;
      }
    });
    this.#manifests.set(path, reading);
    return reading;
  }

  #kindOf(path: string): Promise<"file" | "folder" | null> {
    const known = this.#kinds.get(path);
    if (known !== undefined) return known;
    const checking = this.#checkPath(path).catch((error: unknown) => {
      if (error instanceof OutsideFolderError) throw error;
      return null;
    });
    this.#kinds.set(path, checking);
    return checking;
  }

  #contains(path: string): boolean {
    return path === this.#folder || path.startsWith(this.#folder + sep);
  }

  async #checkPath(path: string): Promise<"file" | "folder" | null> {
    const real = this.#contains(path) ? await realpath(path) : "";
    if (!this.#contains(real)) {
      throw new OutsideFolderError(`${relative(this.#folder, path)} is outside the packages`);
    }
    const found = await stat(real);
    if (found.isDirectory()) return "folder";
    if (found.isFile() && found.size > MAX_FILE_BYTES) {
      throw new OutsideFolderError(`${relative(this.#folder, path)} is too large`);
    }
    return found.isFile() ? "file" : null;
  }
}

/**
 * The keys of a package.json that decide which file an import resolves to. Packages are not trusted, so types are
 * checked.
 */
interface PackageJson {
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

/**
 * Resolves Node's conditional exports and imports: returns the target of `subpath` (`.`, `./x`, `#x`), or null if the
 * package has none. A target with `..` or `node_modules` in its path counts as none.
 */
function matchExports(table: unknown, subpath: string, kind: Kind): string | null {
  if (!isObject(table) || !Object.keys(table).some(key => /^[.#]/.test(key))) {
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
  if (!isObject(target)) return null;
  for (const [condition, value] of Object.entries(target)) {
    if (!CONDITIONS[kind].has(condition)) continue;
    const found = pick(value, star, kind);
    if (found !== null || value === null) return found;
  }
  return null;
}
