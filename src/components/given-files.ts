import { checkUrlText } from "../egress/check-url.ts";
import { AppError, invalidField } from "../lib/errors.ts";
import type { Outbound } from "../platform.ts";
import { fromUrl } from "./fetch-modules.ts";
import {
  fromCode,
  MAX_FILE_BYTES,
  ModuleError,
  type ModuleLoader,
  type ModuleReader,
  RelativeModuleLoader,
  readablePath,
} from "./load-modules.ts";
import type { GivenFiles } from "./read-files.ts";

const FIELD = { in: "body", path: "files" } as const;

/**
 * Returns a loader for the files of a request, which import each other by relative path, and whose package.json files say
 * which versions of packages they want (docs/component-api.md#imports). Nothing outside of them can be read: they are
 * looked up by their path and are never on a disk. Throws `invalid` for a path that is not plain, and for an entry that is
 * not one of them.
 */
export function fromFiles({ files, entry }: GivenFiles): ModuleLoader {
  const texts = new Map(Object.entries(files));
  for (const path of texts.keys()) {
    if (isPlainPath(path)) continue;
    const message = `${JSON.stringify(path)} is not a plain path such as "lib/app.mjs": no "..", no slash at its start, no backslash`;
    throw invalidField(FIELD.in, FIELD.path, message);
  }
  if (!texts.has(entry)) throw invalidField("body", "entry", "is not the path of one of the files");
  const used = new Map<string, string>();
  const find = (address: URL): string | null => {
    const path = readablePath(address).slice(1);
    const text = texts.get(path);
    if (text === undefined) return null;
    used.set(path, text);
    return text;
  };
  const reader: ModuleReader = {
    read: async (address: URL) => {
      const text = find(address);
      if (text === null) return null;
      if (Buffer.byteLength(text) > MAX_FILE_BYTES) throw new ModuleError(`${address.href} exceeds 1 MB`);
      return { text, address };
    },
    probe: async (address: URL) => find(address),
  };
  const path = entry.split("/").map(encodeURIComponent).join("/");
  return new GivenLoader(new URL(`file:///${path}`), reader, { entry, used });
}

class GivenLoader extends RelativeModuleLoader {
  readonly #given: { entry: string; used: ReadonlyMap<string, string> };

  constructor(
    address: URL,
    reader: ModuleReader,
    given: { entry: string; used: ReadonlyMap<string, string> },
  ) {
    super(address, FIELD, reader);
    this.#given = given;
  }

  /** They are those of the request that are imported, and each package.json that says something, by the paths of the request. */
  override files(): GivenFiles | null {
    const { entry, used } = this.#given;
    return used.size > 1 ? { files: Object.fromEntries(used), entry } : null;
  }
}

const MAX_PATH = 512;

const isPlainPath = (path: string): boolean =>
  path.length <= MAX_PATH &&
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is rejected
  !/[\\\0-\x1f\x7f]|\p{Surrogate}/u.test(path) &&
  path.split("/").every(part => !["", ".", ".."].includes(part));

/** The fields of a request that have the code of a component, in the order in which they count. */
export const CODE_SOURCES = ["component_code", "files", "component_url"] as const;

/** The code of a component, as a request has it: the text of one file, several files, or their address. */
export interface GivenCode {
  component_code?: string | undefined;
  files?: Record<string, string> | undefined;
  /** Of `files`. */
  entry?: string | undefined;
  component_url?: string | undefined;
}

/** Returns a loader for the code of a request. Throws AppError `invalid` that names the field. */
export function loaderOf(
  { egress }: Outbound,
  { component_code: code, files, entry, component_url: url }: GivenCode,
): ModuleLoader {
  if (url !== undefined) checkUrlText(url, { in: "body", path: "component_url" });
  if (entry !== undefined && files === undefined) throw invalidField("body", "entry", "belongs to files");
  if (files !== undefined && entry === undefined)
    throw invalidField("body", "entry", "is required with files");
  if (code !== undefined) return fromCode(code);
  if (files !== undefined && entry !== undefined) return fromFiles({ files, entry });
  if (url !== undefined) return fromUrl(url, egress);
  throw new AppError("invalid", `one of ${CODE_SOURCES.join(", ")} is required`, {
    fields: CODE_SOURCES.map(path => ({ in: "body" as const, path, message: "one of these is required" })),
  });
}

/** Returns the files that messages about the code may name; null if it is one file. */
export function namedFiles(loader: ModuleLoader, { files, entry }: GivenCode): GivenFiles | null {
  const isGiven = loader.field.path === "files" && files !== undefined && entry !== undefined;
  return isGiven ? { files, entry } : (loader.files?.() ?? null);
}
