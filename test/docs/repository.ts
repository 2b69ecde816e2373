import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The repository's folder, with a separator at its end. */
export const root = fileURLToPath(new URL("../../", import.meta.url));

/** What git does not keep, and the components under test: those are users' code. */
const LEFT_OUT = /(^|\/)(node_modules|dist|coverage|\.[a-z]+)(\/|$)|^test\/fixtures\/components(\/|$)/;

/** Returns the files below some folders, and the files named themselves, as paths from the root, sorted. */
export function filesOf(...names: string[]): string[] {
  return names.flatMap(name => walk(name)).sort();
}

function walk(path: string): string[] {
  if (LEFT_OUT.test(path)) return [];
  let entries: ReturnType<typeof list>;
  try {
    entries = list(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOTDIR") return [path];
    if (code === "ENOENT") return [];
    throw error;
  }
  return entries.flatMap(entry => walk(`${path}/${entry.name}`));
}

const list = (path: string) => readdirSync(join(root, path), { withFileTypes: true });

/** Returns the documents in the repository's own folder. */
export const rootDocuments = (): string[] => readdirSync(root).filter(name => name.endsWith(".md"));

/** Returns the repository's folders, without those that git does not keep and those that start with a dot. */
export const rootFolders = (): string[] =>
  readdirSync(root, { withFileTypes: true })
    .filter(entry => entry.isDirectory() && !LEFT_OUT.test(entry.name) && !entry.name.startsWith("."))
    .map(({ name }) => name)
    .sort();

/** Returns the text of a file, which is named from the root. */
export const read = (path: string): string => readFileSync(join(root, path), "utf8");
