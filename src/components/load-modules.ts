import { readFile, realpath, stat } from "node:fs/promises";
import { posix } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { AppError, type FieldError, invalidField } from "../lib/errors.ts";
import { LIMITS } from "../limits/catalogue.ts";
import { type GivenFiles, ReadFiles } from "./read-files.ts";
import { type DeclaredRanges, declaredRanges, foldersAbove } from "./specifier.ts";

export const MAX_FILE_BYTES = LIMITS.moduleBytes.value;
const MAX_TOTAL_BYTES = LIMITS.modulesBytes.value;
/** Published components have at most 16 files. */
export const MAX_FILES = LIMITS.modules.value;

/** The name in stacks of code that was given without a file. */
export const CODE_ID = "component.js";

/** One file of the component's own code. */
export interface SourceModule {
  /** Path relative to the entry's folder, which names the file in stacks and messages. */
  id: string;
  text: string;
  /** `script`: the file name does not say whether it is JavaScript or TypeScript. */
  language: "js" | "jsx" | "ts" | "tsx" | "json" | "script";
}

/**
 * Returns the component's entry file and the files it imports. Its errors are AppErrors `invalid` that name `field`, and
 * `unavailable` for a file that was not read in time.
 */
export interface ModuleLoader {
  field: Pick<FieldError, "in" | "path">;
  entry(): Promise<SourceModule>;
  /**
   * @param specifier starts with `./` or `../`
   * @param importerId id of a module that this loader has returned
   */
  resolve(specifier: string, importerId: string): Promise<SourceModule>;
  /**
   * Returns the versions of an npm package that the nearest package.json above a module asks for; an empty string if
   * there is none, or it does not name the package. Absent if the code has no place of its own.
   */
  declaredRange?(packageName: string, importerId: string): Promise<string>;
  /** Returns the files that were read so far, as a request gives them; null as `ReadFiles.given`. */
  files?(): GivenFiles | null;
}

/** Reads files by their address. */
export interface ModuleReader {
  /**
   * Returns the text and the address after redirects, or null if there is no such file. Throws ModuleError and
   * ModuleNotReadError.
   */
  read(address: URL): Promise<{ text: string; address: URL } | null>;
  /** As `read`, for a file that need not exist: null for a web page, too. */
  probe(address: URL): Promise<string | null>;
}

/** A file can't be used. The loader adds the field. */
export class ModuleError extends Error {}

/** A file was not read in time, or there were no sockets for it: the same request may succeed. */
export class ModuleNotReadError extends Error {}

const RETRY_MS = 10_000;

const LANGUAGES: Record<string, SourceModule["language"]> = {
  mjs: "js",
  js: "js",
  cjs: "js",
  jsx: "jsx",
  ts: "ts",
  tsx: "tsx",
  mts: "ts",
  cts: "ts",
  json: "json",
};

const extensionOf = (path: string): string => /\.([a-z]+)$/.exec(path)?.[1] ?? "";
const languageOf = (path: string) => LANGUAGES[extensionOf(path)] ?? "script";

/**
 * Returns the files that an import may mean: `./app` may be `app.mjs`, and in TypeScript code `./app.js` is `app.ts`.
 */
function candidates(address: URL, importer: URL): URL[] {
  const at = (pathname: string): URL => Object.assign(new URL(address), { pathname });
  const path = address.pathname;
  const isTyped = languageOf(importer.pathname).startsWith("ts");
  const extensions = isTyped ? ["ts", "tsx", "mjs", "js"] : ["mjs", "js", "ts", "tsx"];
  if (languageOf(path) !== "script") {
    return /\.m?js$/.test(path) ? [address, at(path.replace(/js$/, "ts"))] : [address];
  }
  const bare = path.replace(/\/$/, "");
  const files = path === bare ? [...extensions, "json"].map(extension => `${bare}.${extension}`) : [];
  const indexes = extensions.map(extension => `${bare}/index.${extension}`);
  return [...[...files, ...indexes].map(at), ...(path === bare ? [address] : [])];
}

/**
 * Loads the files that a reader can read. It follows relative imports within the entry's origin, reads each file once,
 * and enforces the limits on their number and size. Its errors contain the address that failed.
 */
export class RelativeModuleLoader implements ModuleLoader {
  readonly field: ModuleLoader["field"];
  readonly #entry: URL;
  readonly #reader: ModuleReader;
  /** Addresses by module id. */
  readonly #addresses = new Map<string, URL>();
  readonly #reads = new Map<string, Promise<SourceModule | null>>();
  /** What the package.json of a folder asks for; null if there is none. */
  readonly #manifests = new Map<string, Promise<DeclaredRanges | null>>();
  readonly #found = new ReadFiles();
  /** The entry's address after redirects. */
  #root: URL | undefined;
  #totalBytes = 0;

  constructor(entry: URL, field: ModuleLoader["field"], reader: ModuleReader) {
    this.#entry = entry;
    this.field = field;
    this.#reader = reader;
  }

  async entry(): Promise<SourceModule> {
    const module = await this.#readOnce(this.#entry);
    if (module === null) throw this.#invalid(`nothing was found at ${this.#entry.href}`);
    return module;
  }

  async resolve(specifier: string, importerId: string): Promise<SourceModule> {
    const importer = this.#addresses.get(importerId) ?? this.#entry;
    const imported = `${importerId} imports ${JSON.stringify(specifier)}`;
    const target = URL.canParse(specifier, importer.href) ? new URL(specifier, importer) : null;
    if (target === null || target.origin !== importer.origin) {
      throw this.#invalid(`${imported}, which is not a relative file`);
    }
    for (const candidate of candidates(target, importer)) {
      const module = await this.#readOnce(candidate);
      if (module !== null) return module;
    }
    throw this.#invalid(`${imported}: nothing was found at ${target.href}`);
  }

  async declaredRange(packageName: string, importerId: string): Promise<string> {
    const address = this.#addresses.get(importerId) ?? this.#entry;
    for (const folder of foldersAbove(address)) {
      const declared = await this.#manifestIn(folder);
      if (declared === null) continue;
      const range = declared.get(packageName) ?? "";
      if (range !== "") this.#found.ask(pathOf(address), packageName, range);
      return range;
    }
    return "";
  }

  files(): GivenFiles | null {
    return this.#found.given();
  }

  async #manifestIn(folder: URL): Promise<DeclaredRanges | null> {
    const reading =
      this.#manifests.get(folder.href) ??
      this.#reader.probe(new URL("package.json", folder)).then(text => declaredRanges(text ?? ""));
    this.#manifests.set(folder.href, reading);
    return await this.#named(reading);
  }

  async #readOnce(address: URL): Promise<SourceModule | null> {
    const reading = this.#reads.get(address.href) ?? this.#read(address);
    this.#reads.set(address.href, reading);
    return await this.#named(reading);
  }

  /** Rejects as `reading` does, with an AppError for what is wrong with a file. */
  async #named<T>(reading: Promise<T>): Promise<T> {
    try {
      return await reading;
    } catch (error) {
      if (error instanceof ModuleNotReadError) {
        throw new AppError("unavailable", error.message, { cause: error, retryAfterMs: RETRY_MS });
      }
      throw error instanceof ModuleError ? this.#invalid(error.message) : error;
    }
  }

  async #read(address: URL): Promise<SourceModule | null> {
    const found = await this.#reader.read(address);
    if (found === null) return null;
    this.#root ??= found.address;
    if (found.address.origin !== this.#root.origin) {
      throw new ModuleError(`${address.href} leads to a different site than the entry file`);
    }
    this.#totalBytes += Buffer.byteLength(found.text);
    const id = this.#idOf(found.address, this.#root);
    this.#addresses.set(id, found.address);
    if (this.#addresses.size > MAX_FILES) throw new ModuleError(`more than ${MAX_FILES} files are imported`);
    if (this.#totalBytes > MAX_TOTAL_BYTES) throw new ModuleError("the imported files exceed 5 MB in total");
    this.#found.add(pathOf(found.address), found.text, found.address.pathname !== address.pathname);
    return { id, text: found.text, language: languageOf(found.address.pathname) };
  }

  #idOf(address: URL, root: URL): string {
    const folder = posix.dirname(readablePath(root));
    const path = posix.relative(folder, readablePath(address));
    return path + (address === root ? "" : address.search);
  }

  #invalid(message: string): AppError {
    return invalidField(this.field.in, this.field.path, message);
  }
}

/** Returns the path of an address without its percent-encoding, if it is valid; a lone percent sign is not. */
export function readablePath({ pathname }: URL): string {
  try {
    return decodeURIComponent(pathname);
  } catch {
    return pathname;
  }
}

const pathOf = (address: URL): string => readablePath(address).slice(1);

/** Returns a loader for the code in `component_code`. It is one file, so its relative imports can't be resolved. */
export function fromCode(code: string): ModuleLoader {
  const field = { in: "body", path: "component_code" } as const;
  return {
    field,
    entry: async () => {
      if (Buffer.byteLength(code) > MAX_FILE_BYTES) {
        throw invalidField(field.in, field.path, "the code exceeds 1 MB");
      }
      return { id: CODE_ID, text: code, language: "script" };
    },
    resolve: async specifier => {
      const message = `the import ${JSON.stringify(specifier)} is relative, but component_code has no other files; use files or component_url instead`;
      throw invalidField(field.in, field.path, message);
    },
  };
}

/** Returns a loader for a local file and its relative imports, with the permissions of the command line's user. */
export function fromFile(path: string): ModuleLoader {
  const reader = {
    read: readLocalFile,
    probe: async (address: URL) => (await readLocalFile(address))?.text ?? null,
  };
  return new RelativeModuleLoader(pathToFileURL(path), { in: "component", path }, reader);
}

async function readLocalFile(address: URL): Promise<{ text: string; address: URL } | null> {
  try {
    const file = await realpath(fileURLToPath(address));
    const found = await stat(file);
    if (!found.isFile()) return null;
    if (found.size > MAX_FILE_BYTES) throw new ModuleError(`${file} exceeds 1 MB`);
    return { text: await readFile(file, "utf8"), address };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // An address such as `./a%.mjs` or `./a%2f` is that of no file.
    const isUnusablePath = error instanceof URIError || code === "ERR_INVALID_FILE_URL_PATH";
    if (code === "ENOENT" || code === "ENOTDIR" || isUnusablePath) return null;
    throw error;
  }
}
