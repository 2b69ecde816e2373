import type { OnResolveArgs, OnResolveResult, Plugin } from "esbuild";
import type { AppError } from "../lib/errors.ts";
import { missingModule, normalizePackaged, withoutMap } from "./normalize-module.ts";
import type { InstalledPackages } from "./npm-packages.ts";
import { placeOfImport } from "./place-of-import.ts";
import type { Closure, Target } from "./read-closure.ts";
import { type ImportKind, OutsideFolder, type PackageFolder, type Resolved } from "./resolve-package.ts";

/** The virtual file that gives the component its one form, a default export, ESM or CommonJS. */
export const ENTRY = "headwater-entry";
const MAX_PACKAGE_FILES = 5000;
const MISSING = "missing";

export interface BundleSources {
  closure: Closure;
  installed: InstalledPackages | null;
  folder: PackageFolder | null;
  /** Remembers why the bundle is refused; esbuild would only keep its text. */
  refuse(message: string): AppError;
}

const kindOf = (args: OnResolveArgs): ImportKind => (args.kind.startsWith("require") ? "require" : "import");

/** `.mjs` in the name tells esbuild to give CommonJS imports their default as Node does. */
export const nodeName = (id: string, format: string): string =>
  format === "esm" && !/\.m[jt]s$/.test(id) ? `${id}.mjs` : id;

/** Every import and every file goes through here: esbuild's own resolver and reader are never asked. */
export function bundlePlugin({ closure, installed, folder, refuse }: BundleSources): Plugin {
  const packaged = new Map<string, { path: string; format: "esm" | "cjs" | "json" }>();

  const external = (name: string): OnResolveResult => ({
    path: `node:${name}`,
    external: true,
    sideEffects: false,
  });

  const ownById = new Map(
    [...closure.modules.values()].map(module => [nodeName(module.id, module.format), module]),
  );

  function packageFile(found: Resolved): OnResolveResult {
    if (found.kind === "builtin") return external(found.name);
    const inside = found.path.slice((installed?.folder.length ?? 0) + 1);
    if (inside.endsWith(".node")) return { path: inside, namespace: MISSING };
    const name = nodeName(inside, found.format);
    packaged.set(name, found);
    if (packaged.size > MAX_PACKAGE_FILES)
      throw refuse(`the packages have more than ${MAX_PACKAGE_FILES} files`);
    return { path: name, namespace: "npm" };
  }

  async function ownImport(args: OnResolveArgs): Promise<OnResolveResult> {
    if (args.path === ENTRY || args.importer === ENTRY) {
      const { id, format } = closure.entry;
      return { path: args.kind === "entry-point" ? ENTRY : nodeName(id, format), namespace: "own" };
    }
    const importer = ownById.get(args.importer);
    const target: Target | undefined = importer?.imports.get(args.path);
    if (target === undefined) throw refuse(`the import ${JSON.stringify(args.path)} can't be resolved`);
    if (target.kind === "builtin") return external(target.name);
    if (target.kind === "own") {
      return { path: nodeName(target.id, closure.modules.get(target.id)?.format ?? "esm"), namespace: "own" };
    }
    const name = installed?.folderOf(target) ?? "";
    const found = await folder?.resolveTop(name, target.subpath, kindOf(args));
    if (found) return packageFile(found);
    const place = importer === undefined ? "" : placeOfImport(importer.source, args.path);
    throw refuse(
      `the import ${JSON.stringify(args.path)} can't be resolved: the package has no such file${place}`,
    );
  }

  async function packageImport(args: OnResolveArgs): Promise<OnResolveResult> {
    const importer = packaged.get(args.importer);
    const found = importer && (await folder?.resolveFrom(importer.path, args.path, kindOf(args)));
    if (found) return packageFile(found);
    // Optional dependencies are asked for in a try: they fail at run time, as without them under Node.
    if (args.kind !== "import-statement") return { path: args.path, namespace: MISSING };
    throw refuse(
      `the package file ${args.importer} imports ${JSON.stringify(args.path)}, which is not there`,
    );
  }

  return {
    name: "headwater",
    setup(setup) {
      setup.onResolve({ filter: /.*/ }, async args => {
        if (args.kind === "require-resolve") return { path: args.path, external: true };
        try {
          return args.namespace === "npm" ? await packageImport(args) : await ownImport(args);
        } catch (error) {
          if (error instanceof OutsideFolder)
            throw refuse(`the import ${JSON.stringify(args.path)}: ${error.message}`);
          throw error;
        }
      });
      setup.onLoad({ filter: /.*/, namespace: "own" }, args => {
        if (args.path === ENTRY)
          return { contents: withoutMap('export { default } from "component";'), loader: "js" };
        const module = ownById.get(args.path);
        return { contents: module?.text ?? "", loader: module?.format === "json" ? "json" : "js" };
      });
      setup.onLoad({ filter: /.*/, namespace: "npm" }, async args => {
        const file = packaged.get(args.path);
        if (file === undefined) throw refuse(`${args.path} was never resolved`);
        const text = await (folder as PackageFolder).read(file.path);
        const language = file.format === "json" ? "json" : /\.[mc]?ts$/.test(file.path) ? "ts" : "js";
        return { contents: await normalizePackaged(text, language), loader: "js" };
      });
      setup.onLoad({ filter: /.*/, namespace: MISSING }, args => ({
        contents: missingModule(args.path),
        loader: "js",
      }));
      // A file that none of the above named would be one of ours.
      setup.onLoad({ filter: /.*/, namespace: "file" }, args => {
        throw refuse(`${args.path.split("/").pop()} is no file of the component`);
      });
    },
  };
}
