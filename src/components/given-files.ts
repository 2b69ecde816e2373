import { invalidField } from "../lib/errors.ts";
import {
  MAX_FILE_BYTES,
  ModuleError,
  type ModuleLoader,
  RelativeModuleLoader,
  readablePath,
} from "./load-modules.ts";

const FIELD = { in: "body", path: "files" } as const;

/** The files of a component in a request: their texts by path, and the path of the one that is imported first. */
export interface GivenFiles {
  files: Record<string, string>;
  entry: string;
}

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
  const find = (address: URL): string | null => texts.get(readablePath(address).slice(1)) ?? null;
  const reader = {
    read: async (address: URL) => {
      const text = find(address);
      if (text === null) return null;
      if (Buffer.byteLength(text) > MAX_FILE_BYTES) throw new ModuleError(`${address.href} exceeds 1 MB`);
      return { text, address };
    },
    probe: async (address: URL) => find(address),
  };
  const path = entry.split("/").map(encodeURIComponent).join("/");
  return new RelativeModuleLoader(new URL(`file:///${path}`), FIELD, reader);
}

const MAX_PATH = 512;

const isPlainPath = (path: string): boolean =>
  path.length <= MAX_PATH &&
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is rejected
  !/[\\\0-\x1f\x7f]|\p{Surrogate}/u.test(path) &&
  path.split("/").every(part => !["", ".", ".."].includes(part));
