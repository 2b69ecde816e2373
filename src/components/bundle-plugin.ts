import { posix } from "node:path";
import type { OnLoadArgs, OnLoadResult, OnResolveArgs, OnResolveResult, Plugin } from "esbuild";
import type { AppError } from "../lib/errors.ts";
import { LIMITS } from "../limits/catalogue.ts";
import {
  type ComputedFiles,
  FILES_OF,
  importLocation,
  importsOf,
  madeRequires,
  moduleOfFiles,
  moduleThatRequires,
  PLACE_OF,
} from "./computed-imports.ts";
import type { Esbuild } from "./esbuild-process.ts";
import type { KnownPackages } from "./known-packages.ts";
import type { ImportTarget, ModuleGraph } from "./module-graph.ts";
import { missingModule, normalizePackaged, withoutMap } from "./normalize-module.ts";
import type { InstalledPackages } from "./npm-packages.ts";
import { filesOfPackage } from "./package-cache.ts";
import { type PackageFiles, packageRoot, placeOf } from "./package-files.ts";
import { type ImportKind, OutsideFolderError, type Resolved } from "./resolve-package.ts";

/** The virtual entry file, which exports the component as default, whether its own file is ESM or CommonJS. */
export const ENTRY = "headwater-entry";
const MISSING = "missing";
const PLACE = "place";
/** Follows the namespace of a file that makes itself a `require`, for what it gets as `node:module`. */
const MADE = "-made";
/** Of the functions that are called with a computed name; before the bar is the file that calls it. */
const FILES = "npm-files";
/** Follows the path of a file of ours; it makes esbuild see a CommonJS module. */
const MADE_FILE = ".cjs";

export interface BundleSources {
  esbuild: Esbuild;
  graph: ModuleGraph;
  installed: InstalledPackages | null;
  known: KnownPackages | null;
  /** False: what computed names may mean is not looked for. */
  hasComputedFiles: boolean;
  /** Learns of each file of a package. */
  packageFiles: PackageFiles;
  /** Stores the error, because esbuild keeps only its text, and returns it. */
  reject(message: string): AppError;
}

const kindOf = (args: OnResolveArgs): ImportKind => (args.kind.startsWith("require") ? "require" : "import");

/** Because of the extension `.mjs`, esbuild resolves the default import of a CommonJS module as Node does. */
export const nodeName = (id: string, format: string): string =>
  format === "esm" && !/\.m[jt]s$/.test(id) ? `${id}.mjs` : id;

const withoutMade = (path: string): string => path.slice(0, -MADE_FILE.length);

/**
 * Returns the plugin that resolves every import and reads every file. esbuild's own resolver and file system access are
 * never used.
 */
export function bundlePlugin(sources: BundleSources): Plugin {
  const { esbuild, graph, installed, known, packageFiles, reject } = sources;
  const packaged = new Map<string, { path: string; format: "esm" | "cjs" | "json" }>();

  const external = (name: string): OnResolveResult => ({
    path: `node:${name}`,
    external: true,
    sideEffects: false,
  });

  const ownById = new Map(
    [...graph.modules.values()].map(module => [nodeName(module.id, module.format), module]),
  );

  const insidePackages = (path: string): string => path.slice((installed?.folder.length ?? 0) + 1);

  function normalText(path: string): Promise<string> {
    const file = packaged.get(path);
    if (file === undefined) throw reject(`${path} was never resolved`);
    const language = file.format === "json" ? "json" : /\.[mc]?ts$/.test(file.path) ? "ts" : "js";
    return (known as KnownPackages).normalText(file.path, text =>
      normalizePackaged(esbuild, text, language, insidePackages(file.path)),
    );
  }

  const codeOf = async (namespace: string, path: string): Promise<string> =>
    namespace.startsWith("npm") ? await normalText(path) : (ownById.get(path)?.code ?? "");

  async function builtin(name: string, { importer, namespace }: OnResolveArgs): Promise<OnResolveResult> {
    if (name !== "module") return external(name);
    const requires = madeRequires(await codeOf(namespace, importer));
    return requires.length === 0
      ? external(name)
      : { path: importer + MADE_FILE, namespace: namespace + MADE };
  }

  function packageFile(found: Extract<Resolved, { kind: "file" }>): OnResolveResult {
    const inside = insidePackages(found.path);
    if (inside.endsWith(".node")) return { path: inside, namespace: MISSING };
    const name = nodeName(inside, found.format);
    packaged.set(name, found);
    if (packaged.size > LIMITS.packageFiles.value)
      throw reject(`the packages have more than ${LIMITS.packageFiles.value} files`);
    return { path: name, namespace: "npm" };
  }

  async function ownImport(args: OnResolveArgs): Promise<OnResolveResult> {
    if (args.path === ENTRY || args.importer === ENTRY) {
      const { id, format } = graph.entry;
      return { path: args.kind === "entry-point" ? ENTRY : nodeName(id, format), namespace: "own" };
    }
    const importer = ownById.get(args.importer);
    const target: ImportTarget | undefined = importer?.imports.get(args.path);
    if (target === undefined) throw reject(`the import ${JSON.stringify(args.path)} can't be resolved`);
    if (target.kind === "builtin") return builtin(target.name, args);
    if (target.kind === "own") {
      return { path: nodeName(target.id, graph.modules.get(target.id)?.format ?? "esm"), namespace: "own" };
    }
    const name = installed?.folderOf(target) ?? "";
    const found = await known?.folder.resolveFromComponent(name, target.subpath, kindOf(args));
    if (found?.kind === "file") return packageFile(found);
    const location = importer === undefined ? "" : importLocation(importer.source, args.path);
    throw reject(
      `the import ${JSON.stringify(args.path)} can't be resolved: the package has no such file${location}`,
    );
  }

  /** What `require.resolve` returns is a module of its own. */
  async function place(args: OnResolveArgs, name: string): Promise<OnResolveResult> {
    const importer = packaged.get(args.importer);
    const found = importer && (await known?.folder.resolveFromPackage(importer.path, name, "require"));
    if (!found) return { path: name, namespace: MISSING };
    const path = found.kind === "builtin" ? found.name : placeOf(insidePackages(found.path));
    return { path: path + MADE_FILE, namespace: PLACE, pluginData: path };
  }

  async function packageImport(args: OnResolveArgs): Promise<OnResolveResult> {
    if (args.path.startsWith(FILES_OF))
      return { path: `${args.importer}|${args.path.slice(FILES_OF.length)}`, namespace: FILES };
    if (args.path.startsWith(PLACE_OF)) return place(args, args.path.slice(PLACE_OF.length));
    const importer = packaged.get(args.importer);
    const found =
      importer && (await known?.folder.resolveFromPackage(importer.path, args.path, kindOf(args)));
    if (found) return found.kind === "builtin" ? builtin(found.name, args) : packageFile(found);
    // Optional dependencies are required inside a `try`. They fail at run time, as they do under Node.
    if (args.kind !== "import-statement") return { path: args.path, namespace: MISSING };
    throw reject(
      `the package file ${args.importer} imports ${JSON.stringify(args.path)}, which does not exist`,
    );
  }

  const made = async ({ namespace, path }: OnLoadArgs): Promise<OnLoadResult> => ({
    contents: withoutMap(moduleThatRequires(madeRequires(await codeOf(namespace, withoutMade(path))))),
    loader: "js",
  });

  /** The function that a file of a package calls with a computed name: it knows the files that may be meant. */
  async function computed({ path }: OnLoadArgs): Promise<OnLoadResult> {
    const [name = "", ...json] = path.split("|");
    const files = JSON.parse(json.join("|")) as ComputedFiles;
    const inside = insidePackages(packaged.get(name)?.path ?? "");
    const known = sources.hasComputedFiles
      ? importsOf(
          files,
          posix.dirname(inside),
          await filesOfPackage(installed?.folder ?? "", packageRoot(inside)),
        )
      : [];
    return { contents: withoutMap(moduleOfFiles(known, files.isImport)), loader: "js" };
  }

  return {
    name: "headwater",
    setup(setup) {
      setup.onResolve({ filter: /.*/ }, async given => {
        if (given.kind === "require-resolve") return { path: given.path, external: true };
        const isMade = given.namespace.endsWith(MADE);
        if (isMade && given.path === "node:module") return external("module");
        const importer = isMade ? withoutMade(given.importer) : given.importer;
        const args = {
          ...given,
          importer: given.namespace === FILES ? (importer.split("|")[0] ?? "") : importer,
        };
        try {
          return args.namespace.startsWith("npm") ? await packageImport(args) : await ownImport(args);
        } catch (error) {
          if (error instanceof OutsideFolderError) {
            throw reject(`the import ${JSON.stringify(args.path)}: ${error.message}`);
          }
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
        const contents = await normalText(args.path);
        packageFiles.note(insidePackages(packaged.get(args.path)?.path ?? ""), contents);
        return { contents, loader: "js" };
      });
      setup.onLoad({ filter: /.*/, namespace: `own${MADE}` }, made);
      setup.onLoad({ filter: /.*/, namespace: `npm${MADE}` }, made);
      setup.onLoad({ filter: /.*/, namespace: FILES }, computed);
      setup.onLoad({ filter: /.*/, namespace: PLACE }, ({ pluginData }) => ({
        contents: withoutMap(`module.exports=${JSON.stringify(pluginData)};`),
        loader: "js",
      }));
      setup.onLoad({ filter: /.*/, namespace: MISSING }, args => ({
        contents: missingModule(args.path),
        loader: "js",
      }));
      // Any other file would be a file of the server.
      setup.onLoad({ filter: /.*/, namespace: "file" }, args => {
        throw reject(`${args.path.split("/").pop()} is not a file of the component`);
      });
    },
  };
}
