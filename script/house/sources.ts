import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url));

/** A file of the repository, by its path from the root. */
export interface SourceFile {
  path: string;
  text: string;
  lines: number;
}

/** Returns the files below a folder whose names end so, sorted. `leftOut` is the beginning of paths that don't count. */
export function filesBelow(folder: string, ending: string, leftOut?: string): SourceFile[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && entry.name.endsWith(ending))
    .map(entry => normalize(join(entry.parentPath, entry.name)).slice(root.length))
    .filter(path => leftOut === undefined || !path.startsWith(leftOut))
    .sort()
    .map(path => {
      const text = readFileSync(join(root, path), "utf8");
      return { path, text, lines: text.split("\n").length - 1 };
    });
}

/** The house: what runs in production. */
export const sourcesEnding = (ending: string): SourceFile[] =>
  ["src", "workers"].flatMap(folder => filesBelow(folder, ending));

const IMPORT = /^\s*(?:import|export)\b[^"';]*?["'](\.[^"']+)["']|\bimport\(\s*["'](\.[^"']+)["']/gm;

/** Returns the importers of each file among these files, imports of types included. */
export function importersOf(files: SourceFile[]): Map<string, Set<string>> {
  const importers = new Map(files.map(({ path }) => [path, new Set<string>()]));
  for (const { path, text } of files) {
    for (const [, fixed, dynamic] of text.matchAll(IMPORT)) {
      importers.get(normalize(join(dirname(path), fixed ?? dynamic ?? "")))?.add(path);
    }
  }
  return importers;
}

/** Returns how often a pattern occurs in all files together. `pattern` has the flag `g`. */
export const countIn = (files: SourceFile[], pattern: RegExp): number =>
  files.reduce((sum, { text }) => sum + [...text.matchAll(pattern)].length, 0);
