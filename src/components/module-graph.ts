import { createHash } from "node:crypto";
import type { Message, Plugin } from "esbuild";
import { LOCAL_ACCOUNT } from "../fairness/slots.ts";
import { AppError, invalidField } from "../lib/errors.ts";
import type { Esbuild } from "../lib/new-esbuild.ts";
import { importLocation, madeRequires, withLocation } from "./computed-imports.ts";
import { EsbuildCrashError, withEsbuild } from "./esbuild-process.ts";
import { CODE_ID, MAX_FILES, type ModuleLoader, type SourceModule } from "./load-modules.ts";
import { formatMessage, inSource, type NormalModule, normalizeOwn } from "./normalize-module.ts";
import { readSpecifier, type Specifier } from "./specifier.ts";

const READ_MS = 30_000;

/** One file of the component, and the targets of its imports. */
export interface GraphModule extends NormalModule {
  id: string;
  source: SourceModule;
  /** The format that Node sees. It decides what the default import of a CommonJS package is. */
  format: "esm" | "cjs" | "json";
  /** By the text of the import. */
  imports: Map<string, ImportTarget>;
}

type PackageTarget = Extract<Specifier, { kind: "package" }>;

export type ImportTarget =
  | { kind: "own"; id: string }
  | Exclude<Specifier, { kind: "relative" | "rejected" }>;

/**
 * What gives authors types (clients/component). It does nothing, so components need not get it from a registry, and it is not one of
 * their files.
 */
const AUTHORING: SourceModule = {
  id: "@headwater/component",
  text: "export const defineSource = component => component; export const defineAction = defineSource;",
  language: "js",
};

/** Whether a module of the graph is a file of the component. */
export const isOwnFile = ({ id }: Pick<GraphModule, "id">): boolean => id !== AUTHORING.id;

/** The component's own files and their imports. */
export interface ModuleGraph {
  /** By id; the entry is the first. */
  modules: Map<string, GraphModule>;
  entry: GraphModule;
  /**
   * SHA-256 (hex) of the entry's text if it is the only file, otherwise of all files; and of the versions that a
   * package.json asks for.
   */
  hash: string;
  /** The versions that a package.json asks for, by the id of the importing file and the name of the package. */
  ranges: Map<string, Map<string, string>>;
}

/**
 * Returns the imports of a module, and whether it is ESM or CommonJS. Every import is external, so nothing is bundled.
 */
async function scan(
  esbuild: Esbuild,
  module: NormalModule,
): Promise<{ specifiers: string[]; format: "esm" | "cjs" }> {
  const specifiers = new Set<string>();
  const plugin: Plugin = {
    name: "scan",
    setup(setup) {
      setup.onResolve({ filter: /.*/ }, ({ kind, path }) => {
        if (kind === "entry-point") return { path: "entry", namespace: "scan" };
        if (kind !== "require-resolve") specifiers.add(path);
        return { path, external: true };
      });
      setup.onLoad({ filter: /.*/ }, () => ({ contents: module.code, loader: "js" }));
    },
  };
  const { metafile } = await esbuild.build({
    entryPoints: ["entry"],
    bundle: true,
    write: false,
    metafile: true,
    platform: "node",
    format: "esm",
    target: "esnext",
    logLevel: "silent",
    tsconfigRaw: "{}",
    absWorkingDir: "/",
    plugins: [plugin],
  });
  for (const specifier of madeRequires(module.code)) specifiers.add(specifier);
  return { specifiers: [...specifiers], format: Object.values(metafile.inputs)[0]?.format ?? "cjs" };
}

async function parse(loader: ModuleLoader, source: SourceModule, account: string) {
  try {
    return await withEsbuild(account, READ_MS, async esbuild => {
      const normal = await normalizeOwn(esbuild, source);
      const scanned =
        source.language === "json"
          ? { specifiers: [], format: "json" as const }
          : await scan(esbuild, normal).catch((error: unknown) => {
              throw withSourcePlaces(error, normal.text);
            });
      return { ...normal, ...scanned };
    });
  } catch (error) {
    throw toParseError(loader, source, error);
  }
}

/** Moves the places in an error from the normal form of a file to the author's file. */
function withSourcePlaces(error: unknown, text: string): unknown {
  for (const message of (error as { errors?: Message[] }).errors ?? [])
    message.location = inSource(message.location, text);
  return error;
}

function toParseError(loader: ModuleLoader, source: SourceModule, error: unknown): unknown {
  const invalid = (text: string) => {
    const message = source.id === CODE_ID ? text : `${source.id}: ${text}`;
    const fields = [{ ...loader.field, message }];
    return new AppError("invalid", `${loader.field.path}: ${message}`, { fields, cause: error });
  };
  if (error instanceof EsbuildCrashError) return invalid(error.message);
  const [first] = (error as { errors?: Parameters<typeof formatMessage>[0][] }).errors ?? [];
  return first === undefined ? error : invalid(formatMessage(first));
}

/**
 * Reads the entry and follows its relative imports, on behalf of an account; each file is read once. Throws AppError
 * `invalid` that names the loader's field, for a syntax error (with line and column) or an import that can't be resolved.
 */
export async function readModuleGraph(loader: ModuleLoader, account = LOCAL_ACCOUNT): Promise<ModuleGraph> {
  const modules = new Map<string, GraphModule>();
  const ranges: ModuleGraph["ranges"] = new Map();

  async function resolveImport(importer: SourceModule, specifier: string): Promise<ImportTarget> {
    if (specifier === AUTHORING.id) {
      await add(AUTHORING);
      return { kind: "own", id: AUTHORING.id };
    }
    const target = readSpecifier(specifier);
    if (target.kind === "rejected") {
      const location = importLocation(importer, specifier);
      const message = `${importer.id} imports ${JSON.stringify(specifier)}: ${target.reason}${location}`;
      throw invalidField(loader.field.in, loader.field.path, message);
    }
    if (target.kind === "package" && target.range === "") return declared(target, importer);
    if (target.kind !== "relative") return target;
    const source = await loader.resolve(specifier, importer.id).catch((error: unknown) => {
      throw withLocation(error, importLocation(importer, specifier));
    });
    await add(source);
    return { kind: "own", id: source.id };
  }

  /** An import without a version means the versions that the package.json of its app asks for. */
  async function declared(target: PackageTarget, importer: SourceModule): Promise<PackageTarget> {
    const range = (await loader.declaredRange?.(target.name, importer.id)) ?? "";
    if (range !== "") ranges.set(importer.id, (ranges.get(importer.id) ?? new Map()).set(target.name, range));
    return { ...target, range };
  }

  async function add(source: SourceModule): Promise<void> {
    if (modules.has(source.id) || modules.size >= MAX_FILES) return;
    const { id } = source;
    const module: GraphModule = { id, source, code: "", text: "", format: "esm", imports: new Map() };
    modules.set(id, module);
    const { specifiers, ...parsed } = await parse(loader, source, account);
    Object.assign(module, parsed);
    for (const specifier of specifiers) {
      module.imports.set(specifier, await resolveImport(source, specifier));
    }
  }

  const source = await loader.entry();
  await add(source);
  const entry = modules.get(source.id) as GraphModule;
  return { modules, entry, hash: hashOf(source, modules, ranges), ranges };
}

/** Returns the hash of a component that consists of one file. */
export const hashOfFile = (text: string): string => createHash("sha256").update(text).digest("hex");

function hashOf(
  entry: SourceModule,
  modules: Map<string, GraphModule>,
  ranges: ModuleGraph["ranges"],
): string {
  const hash = createHash("sha256").update(entry.text);
  const imported = [...modules.values()].filter(module => module.id !== entry.id && isOwnFile(module));
  for (const { id, source } of imported.sort((a, b) => (a.id < b.id ? -1 : 1))) {
    hash.update(`\0${id}\0${Buffer.byteLength(source.text)}\0${source.text}`);
  }
  const wanted = [...ranges].flatMap(([id, byName]) =>
    [...byName].map(([name, range]) => [`${id}\0${name}`, range] as const),
  );
  for (const [key, range] of wanted.sort(([a], [b]) => (a < b ? -1 : 1))) hash.update(`\0${key}\0${range}`);
  return hash.digest("hex");
}
