import { readdir, readFile, stat } from "node:fs/promises";
import { extname, join } from "node:path";
import { AppError } from "../../lib/errors.ts";

export const EXTENSIONS = [".mjs", ".js", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx"];
const NOT_COMPONENTS = /\.(?:app|d|test|spec|config)\.[cm]?[jt]sx?$/;
/** A server rejects larger ones, too. */
const MOST_BYTES = 1024 * 1024;
const MOST_ENTRIES = 500_000;

/** What every component's file has: a default export, a name and a version (docs/component-api.md#shape). */
const MARKS = [
  /\bexport\s+default\b|\bmodule\.exports\b|\bas\s+default\b/,
  /\bname["']?\s*[:,}]/,
  /\bversion["']?\s*[:,}]/,
];

/** Returns true for the text of a file that may be a component; that of a helper or an app lacks a version. */
export const looksLikeComponent = (text: string): boolean => MARKS.every(mark => mark.test(text));

/**
 * Returns the paths of the files below a folder that look like components, in order. Hidden folders, node_modules and links
 * are left out. Throws AppError `invalid` for a folder that can't be read or has too much in it.
 */
export async function findComponents(folder: string): Promise<string[]> {
  const found: string[] = [];
  const folders = [folder];
  let entries = 0;
  for (let next = folders.shift(); next !== undefined; next = folders.shift()) {
    const current = next;
    const listed = await readdir(current, { withFileTypes: true }).catch((error: Error) => {
      throw new AppError("invalid", `${current} can't be read: ${error.message}`, { cause: error });
    });
    entries += listed.length;
    if (entries > MOST_ENTRIES) {
      throw new AppError("invalid", `${folder}: has more than ${MOST_ENTRIES} files; name a part of it`);
    }
    for (const entry of listed) {
      const path = join(current, entry.name);
      if (entry.name.startsWith(".") || entry.name === "node_modules") continue;
      if (entry.isDirectory()) folders.push(path);
      else if (entry.isFile() && (await isComponent(path))) found.push(path);
    }
  }
  return found.sort();
}

async function isComponent(path: string): Promise<boolean> {
  if (!EXTENSIONS.includes(extname(path)) || NOT_COMPONENTS.test(path)) return false;
  const { size } = await stat(path);
  return size <= MOST_BYTES && looksLikeComponent(await readFile(path, "utf8"));
}
