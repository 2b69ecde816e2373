import { readFile, realpath, stat } from "node:fs/promises";
import { posix } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { AppError, type FieldError } from "../lib/errors.ts";

export const MAX_FILE_BYTES = 1024 * 1024;
const MAX_TOTAL_BYTES = 5 * 1024 * 1024;
/** Real components need 16 at most (runtime.md, "Imports"). */
export const MAX_FILES = 64;

/** How stacks name code that came without a file. */
export const CODE_ID = "component.js";

/** One file of the component's own code. */
export interface SourceModule {
  /** Path relative to the entry's folder: it names the file in stacks and messages. */
  id: string;
  text: string;
  /** `script`: the name does not tell JavaScript from TypeScript. */
  language: "js" | "ts" | "json" | "script";
}

/** Gives the entry and the files it imports. Refusals name `field`. */
export interface ModuleLoader {
  field: Pick<FieldError, "in" | "path">;
  entry(): Promise<SourceModule>;
  /** @param specifier begins with `./` or `../`; @param importerId a module this loader gave. */
  resolve(specifier: string, importerId: string): Promise<SourceModule>;
}

/** Where files come from: what stands at an address, or null where nothing does. Throws ModuleRefusal. */
export interface ModuleReader {
  read(address: URL): Promise<{ text: string; address: URL } | null>;
}

/** Why a file can't be taken; the loader adds the field. */
export class ModuleRefusal extends Error {}

const LANGUAGES: Record<string, SourceModule["language"]> = {
  mjs: "js",
  js: "js",
  cjs: "js",
  ts: "ts",
  mts: "ts",
  cts: "ts",
  json: "json",
};

const extensionOf = (path: string): string => /\.([a-z]+)$/.exec(path)?.[1] ?? "";
const languageOf = (path: string) => LANGUAGES[extensionOf(path)] ?? "script";

/** `./app` may mean `app.mjs`, …; `./app.js` may mean `app.ts`, as TypeScript code writes it. */
function candidates(address: URL, importer: URL): URL[] {
  const at = (pathname: string): URL => Object.assign(new URL(address), { pathname });
  const path = address.pathname;
  const extensions = languageOf(importer.pathname) === "ts" ? ["ts", "mjs", "js"] : ["mjs", "js", "ts"];
  if (languageOf(path) !== "script") {
    return /\.m?js$/.test(path) ? [address, at(path.replace(/js$/, "ts"))] : [address];
  }
  const bare = path.replace(/\/$/, "");
  const files = path === bare ? extensions.map(extension => `${bare}.${extension}`) : [];
  const indexes = extensions.map(extension => `${bare}/index.${extension}`);
  return [...[...files, ...indexes].map(at), ...(path === bare ? [address] : [])];
}

/**
 * A loader over a reader: relative imports are followed inside the entry's origin, each file once, within the
 * limits above. Throws AppError invalid that names `field` and the failing address.
 */
export function loaderOver(entry: URL, field: ModuleLoader["field"], reader: ModuleReader): ModuleLoader {
  const addresses = new Map<string, URL>();
  const reads = new Map<string, Promise<SourceModule | null>>();
  let root: URL | undefined;
  let totalBytes = 0;

  const nameOf = (address: URL): string => {
    const from = decodeURIComponent((root as URL).pathname);
    return (
      posix.relative(posix.dirname(from), decodeURIComponent(address.pathname)) +
      (address === root ? "" : address.search)
    );
  };

  async function take(asked: URL): Promise<SourceModule | null> {
    const found = await reader.read(asked);
    if (found === null) return null;
    root ??= found.address;
    if (found.address.origin !== root.origin) {
      throw new ModuleRefusal(`${asked.href} leads to another site than the entry file`);
    }
    totalBytes += Buffer.byteLength(found.text);
    const id = nameOf(found.address);
    addresses.set(id, found.address);
    if (addresses.size > MAX_FILES) throw new ModuleRefusal(`more than ${MAX_FILES} files are imported`);
    if (totalBytes > MAX_TOTAL_BYTES) throw new ModuleRefusal("the imported files exceed 5 MB in all");
    return { id, text: found.text, language: languageOf(found.address.pathname) };
  }

  const once = (address: URL): Promise<SourceModule | null> => {
    const known = reads.get(address.href);
    if (known !== undefined) return known;
    const reading = take(address);
    reads.set(address.href, reading);
    return reading;
  };

  const named = async <T>(work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => {
      if (!(error instanceof ModuleRefusal)) throw error;
      throw refusal(field, error.message);
    });

  return {
    field,
    async entry() {
      const module = await named(once(entry));
      if (module === null) throw refusal(field, `nothing was found at ${entry.href}`);
      return module;
    },
    async resolve(specifier, importerId) {
      const importer = addresses.get(importerId) ?? entry;
      const wanted = URL.canParse(specifier, importer.href) ? new URL(specifier, importer) : null;
      if (wanted === null || wanted.origin !== importer.origin) {
        throw refusal(
          field,
          `${importerId} imports ${JSON.stringify(specifier)}, which is not a relative file`,
        );
      }
      for (const candidate of candidates(wanted, importer)) {
        const module = await named(once(candidate));
        if (module !== null) return module;
      }
      throw refusal(
        field,
        `${importerId} imports ${JSON.stringify(specifier)}: nothing was found at ${wanted.href}`,
      );
    },
  };
}

function refusal(field: ModuleLoader["field"], message: string): AppError {
  return new AppError("invalid", `${field.path}: ${message}`, { fields: [{ ...field, message }] });
}

/** The code of a request's `component_code`: one file, so a relative import is refused by name (runtime.md). */
export function fromCode(code: string): ModuleLoader {
  const field = { in: "body", path: "component_code" } as const;
  return {
    field,
    entry: async () => {
      if (Buffer.byteLength(code) > MAX_FILE_BYTES) throw refusal(field, "the code exceeds 1 MB");
      return { id: CODE_ID, text: code, language: "script" };
    },
    resolve: async specifier => {
      const imported = JSON.stringify(specifier);
      throw refusal(
        field,
        `the import ${imported} is relative, and code given as component_code has no files beside it; give component_url instead`,
      );
    },
  };
}

/** A file and its relative imports, read as the operator who runs the command line. */
export function fromFile(path: string): ModuleLoader {
  const reader: ModuleReader = {
    async read(address) {
      try {
        const file = await realpath(fileURLToPath(address));
        const { size } = await stat(file).then(found => (found.isFile() ? found : { size: -1 }));
        if (size < 0) return null;
        if (size > MAX_FILE_BYTES) throw new ModuleRefusal(`${file} exceeds 1 MB`);
        return { text: await readFile(file, "utf8"), address };
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
        if ((error as NodeJS.ErrnoException).code === "ENOTDIR") return null;
        throw error;
      }
    },
  };
  return loaderOver(pathToFileURL(path), { in: "component", path }, reader);
}
