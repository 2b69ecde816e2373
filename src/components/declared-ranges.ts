import { isVersionRange } from "./specifier.ts";

/** By the name of a package, the versions that a package.json asks for. */
export type DeclaredRanges = ReadonlyMap<string, string>;

/** Folders above a file in which a package.json is looked for; those of published components are three or four above. */
const MAX_FOLDERS = 12;

/** The sections that an import may be about; a package's own tools, in `devDependencies`, are none of its code. */
const SECTIONS = ["peerDependencies", "optionalDependencies", "dependencies"] as const;

/** Returns the folders above a file, the nearest first, each with a slash at its end. */
export function foldersAbove(file: URL): URL[] {
  const folders: URL[] = [];
  let folder = new URL(".", withoutQuery(file));
  while (folders.length < MAX_FOLDERS) {
    folders.push(folder);
    const above = new URL("..", folder);
    if (above.href === folder.href) break;
    folder = above;
  }
  return folders;
}

const withoutQuery = (address: URL): URL => Object.assign(new URL(address), { search: "", hash: "" });

/**
 * Returns what the text of a package.json asks for; null if it is anything else than one. What npm can't take from a registry,
 * such as `workspace:*` or a git address, is left out, so that the newest version is used.
 */
export function declaredRanges(text: string): DeclaredRanges | null {
  let manifest: unknown;
  try {
    manifest = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof manifest !== "object" || manifest === null || Array.isArray(manifest)) return null;
  const entries = SECTIONS.flatMap(section => {
    const listed = (manifest as Record<string, unknown>)[section];
    return typeof listed === "object" && listed !== null ? Object.entries(listed) : [];
  });
  return new Map(
    entries.filter((entry): entry is [string, string] => {
      const [, range] = entry;
      return typeof range === "string" && isVersionRange(range);
    }),
  );
}
