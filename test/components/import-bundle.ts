import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { SourceMap } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** Returns the default export of a bundle, imported by Node from an otherwise empty folder. */
export async function importBundle(code: string): Promise<Record<string, unknown>> {
  const folder = await mkdtemp(join(tmpdir(), "headwater-bundle-"));
  try {
    const file = join(folder, "bundle.mjs");
    await writeFile(file, code);
    return (await import(pathToFileURL(file).href)).default;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Returns the inline source map of a bundle. */
export function mapOf(code: string): { sources: string[]; mappings: string; [key: string]: unknown } {
  const encoded = code.trimEnd().split("base64,").pop() ?? "";
  return JSON.parse(Buffer.from(encoded, "base64").toString());
}

/** Returns the original file and line, counted from 1, of the first line that contains `text`. */
export function originOf(code: string, text: string): { file: string; line: number } | null {
  const row = code.split("\n").findIndex(line => line.includes(text));
  const column = code.split("\n")[row]?.indexOf(text) ?? -1;
  if (row < 0) return null;
  const found = new SourceMap(mapOf(code) as never).findEntry(row, column);
  return "originalSource" in found
    ? { file: found.originalSource.replace(/^own:/, ""), line: found.originalLine + 1 }
    : null;
}
