import { createHash } from "node:crypto";
import { build, type Plugin } from "esbuild";
import { AppError } from "../lib/errors.ts";
import { CODE_ID, MAX_FILES, type ModuleLoader, type SourceModule } from "./load-modules.ts";
import { type NormalModule, normalizeOwn, placeOf } from "./normalize-module.ts";
import { ParserLost, ParserTooSlow, withParser } from "./parse-alone.ts";
import { atPlace, placeOfImport } from "./place-of-import.ts";
import { readSpecifier, type Specifier } from "./specifier.ts";

const READ_MS = 10_000;

/** One file of the component, read, and what its imports lead to. */
export interface ClosureModule extends NormalModule {
  id: string;
  source: SourceModule;
  /** As Node sees the file; decides what the default import of a CommonJS package is. */
  format: "esm" | "cjs" | "json";
  /** By the text of the import. */
  imports: Map<string, Target>;
}

export type Target = { kind: "own"; id: string } | Exclude<Specifier, { kind: "relative" | "refused" }>;

/** The component's own files; the first is the entry. */
export interface Closure {
  modules: Map<string, ClosureModule>;
  entry: ClosureModule;
  /** SHA-256 (hex) of the entry's text alone where it is the only file, else of all texts. */
  hash: string;
}

/** Bundles nothing: every import is kept aside, and the metafile tells ESM from CommonJS. */
async function scan(module: NormalModule): Promise<{ specifiers: string[]; format: "esm" | "cjs" }> {
  const specifiers = new Set<string>();
  const only: Plugin = {
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
  const { metafile } = await build({
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
    plugins: [only],
  });
  return { specifiers: [...specifiers], format: Object.values(metafile.inputs)[0]?.format ?? "cjs" };
}

async function read(loader: ModuleLoader, source: SourceModule) {
  try {
    return await withParser(READ_MS, async () => {
      const normal = await normalizeOwn(source);
      const found =
        source.language === "json" ? { specifiers: [], format: "json" as const } : await scan(normal);
      return { ...normal, ...found };
    });
  } catch (error) {
    throw unreadable(loader, source, error);
  }
}

function unreadable(loader: ModuleLoader, source: SourceModule, error: unknown): unknown {
  const refuse = (what: string) => {
    const message = source.id === CODE_ID ? what : `${source.id}: ${what}`;
    const fields = [{ ...loader.field, message }];
    return new AppError("invalid", `${loader.field.path}: ${message}`, { fields, cause: error });
  };
  if (error instanceof ParserLost || error instanceof ParserTooSlow) return refuse(error.message);
  const [first] = (error as { errors?: Parameters<typeof placeOf>[0][] }).errors ?? [];
  return first === undefined ? error : refuse(placeOf(first));
}

/**
 * Follows the relative imports from the entry, each file once. Throws AppError invalid naming the loader's field:
 * a syntax error with its line and column, or an import that can't be taken.
 */
export async function readClosure(loader: ModuleLoader): Promise<Closure> {
  const modules = new Map<string, ClosureModule>();

  async function target(importer: SourceModule, specifier: string): Promise<Target> {
    const asked = readSpecifier(specifier);
    if (asked.kind === "refused") {
      const message = `${importer.id} imports ${JSON.stringify(specifier)}: ${asked.reason}${placeOfImport(importer, specifier)}`;
      throw new AppError("invalid", `${loader.field.path}: ${message}`, {
        fields: [{ ...loader.field, message }],
      });
    }
    if (asked.kind !== "relative") return asked;
    const source = await loader.resolve(specifier, importer.id).catch((error: unknown) => {
      throw atPlace(error, placeOfImport(importer, specifier));
    });
    await add(source);
    return { kind: "own", id: source.id };
  }

  async function add(source: SourceModule): Promise<void> {
    if (modules.has(source.id) || modules.size >= MAX_FILES) return;
    const { id } = source;
    const module: ClosureModule = { id, source, code: "", text: "", format: "esm", imports: new Map() };
    modules.set(id, module);
    const { specifiers, ...found } = await read(loader, source);
    Object.assign(module, found);
    for (const specifier of specifiers) module.imports.set(specifier, await target(source, specifier));
  }

  const source = await loader.entry();
  await add(source);
  return { modules, entry: modules.get(source.id) as ClosureModule, hash: hashOf(source, modules) };
}

function hashOf(entry: SourceModule, modules: Map<string, ClosureModule>): string {
  const hash = createHash("sha256").update(entry.text);
  const others = [...modules.values()].filter(module => module.id !== entry.id);
  for (const { id, source } of others.sort((a, b) => (a.id < b.id ? -1 : 1))) {
    hash.update(`\0${id}\0${Buffer.byteLength(source.text)}\0${source.text}`);
  }
  return hash.digest("hex");
}
