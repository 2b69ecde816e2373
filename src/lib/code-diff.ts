import { type StructuredPatchHunk, structuredPatch } from "diff";

/** Code as the API returns it of a version: one text, or files by path with the one that is the main file. */
export interface Code {
  code: string | null;
  files: Record<string, string> | null;
  entry: string | null;
}

/** What differs in one file. */
export interface FileDiff {
  path: string;
  /** Some lines with those around them; each begins with `+`, `-` or a space. Null if nearly all of a long file differs. */
  hunks: StructuredPatchHunk[] | null;
}

/** Two long files without a common line would take minutes, and no one would read what differs. */
const FILE_MS = 1000;
const LINES_AROUND = 3;

/** Returns what differs between two versions of some code, file by file; nothing if they are equal. */
export function diffCode(before: Code, after: Code): FileDiff[] {
  // One file has no path: it is compared with the main file of several.
  const main = before.entry ?? after.entry ?? "code";
  const [old, now] = [textsOf(before, main), textsOf(after, main)];
  const paths = [...new Set([...Object.keys(old), ...Object.keys(now)])].sort();
  return paths
    .filter(path => old[path] !== now[path])
    .map(path => {
      const options = { context: LINES_AROUND, timeout: FILE_MS };
      const patch = structuredPatch(path, path, old[path] ?? "", now[path] ?? "", "", "", options);
      return { path, hunks: patch?.hunks ?? null };
    });
}

const textsOf = ({ code, files, entry }: Code, main: string): Record<string, string> =>
  files !== null && entry !== null ? files : { [main]: code ?? "" };
