import { readFile, realpath, stat } from "node:fs/promises";
import { isBuiltin } from "node:module";
import { dirname, join, relative, sep } from "node:path";
import { matchExports, type PackageJson } from "./package-exports.ts";

/** How an import asks: conditional exports answer differently to `import` and to `require`. */
export type ImportKind = "import" | "require";

export type Resolved =
  | { kind: "file"; path: string; format: "esm" | "cjs" | "json" }
  | { kind: "builtin"; name: string };

const MAX_FILE_BYTES = 10 * 1024 * 1024;
const EXTENSIONS = ["", ".js", ".json", ".cjs", ".mjs", ".node"];

/** A file that would be read outside the prepared folder. */
export class OutsideFolder extends Error {}

/**
 * Node's resolution, confined to one prepared folder (`<folder>/node_modules/…`): nothing above it is looked at,
 * nor is anything a symlink leads out to. esbuild's own resolver climbs to our node_modules and package.json.
 */
export class PackageFolder {
  readonly #folder: string;
  readonly #manifests = new Map<string, Promise<PackageJson | null>>();
  readonly #files = new Map<string, Promise<"file" | "routing" | null>>();

  /** @param folder a real path, without symlinks */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** A package by the name of its folder, as the component's own files ask. Null where there is no such file. */
  async resolveTop(folderName: string, subpath: string, kind: ImportKind): Promise<Resolved | null> {
    return this.#asResolved(
      await this.#inPackage(join(this.#folder, "node_modules", folderName), subpath, kind),
    );
  }

  /** Any import of a package's file. Null where nothing answers; throws OutsideFolder. */
  async resolveFrom(importer: string, specifier: string, kind: ImportKind): Promise<Resolved | null> {
    if (isBuiltin(specifier)) return { kind: "builtin", name: specifier.replace(/^node:/, "") };
    if (/^\.{1,2}(\/|$)/.test(specifier))
      return this.#asResolved(await this.#asPath(join(dirname(importer), specifier)));
    if (specifier.startsWith("#")) return this.#internal(importer, specifier, kind);
    const [, name = "", subpath = ""] = /^((?:@[^/]+\/)?[^/@.\\:][^/\\:]*)(?:\/(.*))?$/.exec(specifier) ?? [];
    if (name === "") return null;
    return this.#asResolved(await this.#bare(importer, name, subpath, kind));
  }

  /** The text of a file this folder resolved. */
  async read(path: string): Promise<string> {
    await this.#inside(path);
    return readFile(path, "utf8");
  }

  async #internal(importer: string, specifier: string, kind: ImportKind): Promise<Resolved | null> {
    const root = await this.#packageOf(importer);
    const target =
      root === null ? null : matchExports((await this.#manifest(root))?.imports, specifier, kind);
    if (root === null || target === null) return null;
    if (target.startsWith("./")) return this.#asResolved(await this.#asPath(join(root, target)));
    return this.resolveFrom(importer, target, kind);
  }

  async #bare(importer: string, name: string, subpath: string, kind: ImportKind): Promise<string | null> {
    const own = await this.#packageOf(importer);
    const manifest = own === null ? null : await this.#manifest(own);
    if (own !== null && manifest?.name === name && manifest.exports !== undefined) {
      return this.#inPackage(own, subpath, kind);
    }
    for (let at = dirname(importer); this.#holds(at); at = dirname(at)) {
      const found = join(at, "node_modules", name);
      if (!at.endsWith(`${sep}node_modules`) && (await this.#kind(found)) === "routing") {
        return this.#inPackage(found, subpath, kind);
      }
    }
    return null;
  }

  async #inPackage(root: string, subpath: string, kind: ImportKind): Promise<string | null> {
    const manifest = await this.#manifest(root);
    if (manifest?.exports === undefined || manifest.exports === null) {
      return this.#asPath(subpath === "" ? root : join(root, subpath));
    }
    const target = matchExports(manifest.exports, subpath === "" ? "." : `./${subpath}`, kind);
    return target === null || !target.startsWith("./") ? null : this.#asPath(join(root, target));
  }

  /** A file, a file without its extension, or a folder with a main file. */
  async #asPath(path: string): Promise<string | null> {
    for (const extension of EXTENSIONS) {
      if ((await this.#kind(path + extension)) === "file") return path + extension;
    }
    if ((await this.#kind(path)) !== "routing") return null;
    const main = (await this.#manifest(path))?.main;
    const named = typeof main === "string" && main !== "" ? join(path, main) : null;
    if (named?.startsWith(path + sep)) {
      const found = await this.#asPath(named);
      if (found !== null) return found;
    }
    for (const index of ["index.js", "index.json", "index.mjs", "index.cjs"]) {
      if ((await this.#kind(join(path, index))) === "file") return join(path, index);
    }
    return null;
  }

  async #asResolved(path: string | null): Promise<Resolved | null> {
    if (path === null) return null;
    if (path.endsWith(".json")) return { kind: "file", path, format: "json" };
    if (/\.m[jt]s$/.test(path)) return { kind: "file", path, format: "esm" };
    if (/\.c[jt]s$/.test(path)) return { kind: "file", path, format: "cjs" };
    const root = await this.#packageOf(path);
    const type = root === null ? undefined : (await this.#manifest(root))?.type;
    return { kind: "file", path, format: type === "module" ? "esm" : "cjs" };
  }

  /** The nearest folder above with a package.json. */
  async #packageOf(file: string): Promise<string | null> {
    for (let at = dirname(file); this.#holds(at) && at !== this.#folder; at = dirname(at)) {
      if ((await this.#manifest(at)) !== null) return at;
    }
    return null;
  }

  #manifest(root: string): Promise<PackageJson | null> {
    const path = join(root, "package.json");
    const known = this.#manifests.get(path);
    if (known !== undefined) return known;
    const reading = this.#kind(path).then(async kind => {
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

  #kind(path: string): Promise<"file" | "routing" | null> {
    const known = this.#files.get(path);
    if (known !== undefined) return known;
    const asking = this.#inside(path).catch((error: unknown) => {
      if (error instanceof OutsideFolder) throw error;
      return null;
    });
    this.#files.set(path, asking);
    return asking;
  }

  #holds(path: string): boolean {
    return path === this.#folder || path.startsWith(this.#folder + sep);
  }

  async #inside(path: string): Promise<"file" | "routing" | null> {
    const real = this.#holds(path) ? await realpath(path) : "";
    if (!this.#holds(real))
      throw new OutsideFolder(`${relative(this.#folder, path)} lies outside the packages`);
    const found = await stat(real);
    if (found.isDirectory()) return "routing";
    if (found.isFile() && found.size > MAX_FILE_BYTES)
      throw new OutsideFolder(`${relative(this.#folder, path)} is too large`);
    return found.isFile() ? "file" : null;
  }
}
