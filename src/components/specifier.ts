import { isBuiltin } from "node:module";
import { isObject } from "../lib/json.ts";

/** What sandboxes have, whatever Node this process is. */
const OF_SANDBOXES = new Set(["node:sqlite"]);

/** True for a built-in module of Node that components have. */
export const isBuiltinModule = (name: string): boolean => isBuiltin(name) || OF_SANDBOXES.has(name);

/** The kinds of imports in a component's own files. */
export type Specifier =
  | { kind: "relative" }
  | { kind: "builtin"; name: string }
  | { kind: "package"; name: string; range: string; subpath: string }
  | { kind: "rejected"; reason: string };

// The first character is a letter or digit, so that no name can be read as an option, a path or a scope.
const PART = "[a-zA-Z0-9][a-zA-Z0-9._~-]*";
const PACKAGE = new RegExp(`^((?:@${PART}/)?${PART})(?:@([^/]*))?(?:/(.+))?$`);
const NUMBER = "(?:0|[1-9][0-9]{0,8}|x|X|\\*)";
const RANGE = new RegExp(
  `^(?:[\\^~=]|[<>]=?)?v?${NUMBER}(?:\\.${NUMBER}){0,2}(?:-[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*)?(?:\\+[0-9A-Za-z.-]+)?$`,
);
// Without dots and slashes, because npm reads a text with these as a file or a git address.
const TAG = /^[a-zA-Z][a-zA-Z0-9-]{0,31}$/;

/**
 * Returns true for a version, a range or alternatives of ranges (`^1.2 || >=3 <5`), or a dist-tag. No other text from
 * component code or its package.json is passed to npm.
 */
export function isVersionRange(text: string): boolean {
  if (text.length > 64 || /\.(tgz|tar|gz)$/i.test(text)) return false;
  const comparators = text.split(/ \|\| |\|\|| /);
  return comparators.every(comparator => RANGE.test(comparator)) || TAG.test(text);
}

function isCleanSubpath(subpath: string): boolean {
  if (/[\\%\0?#]/.test(subpath)) return false;
  return subpath.split("/").every(part => part !== "" && part !== "." && part !== "..");
}

/**
 * Parses an import specifier (docs/component-api.md#imports): a relative file, a Node built-in module, or an npm
 * package with an optional version (`axios@0.20.0/lib/x`). Anything else is rejected: absolute paths, URLs, `#imports`.
 */
export function readSpecifier(text: string): Specifier {
  if (/^\.{1,2}(\/|$)/.test(text)) return { kind: "relative" };
  if (isBuiltinModule(text)) return { kind: "builtin", name: text.replace(/^node:/, "") };
  if (text.startsWith("node:")) return { kind: "rejected", reason: "Node has no such built-in module" };
  const match = PACKAGE.exec(text);
  const [, name = "", range, subpath = ""] = match ?? [];
  if (match === null || name.length > 214 || name === "node_modules") {
    return {
      kind: "rejected",
      reason: "only relative files, npm packages and Node built-in modules can be imported",
    };
  }
  if (range !== undefined && !isVersionRange(range)) {
    return {
      kind: "rejected",
      reason: "the part after @ must be a version (1.2.3, ^1.2, 1.x) or a tag (latest)",
    };
  }
  if (subpath !== "" && !isCleanSubpath(subpath)) {
    return { kind: "rejected", reason: "the path in the package must be a plain path" };
  }
  return { kind: "package", name, range: range ?? "", subpath };
}

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
  if (!isObject(manifest)) return null;
  const entries = SECTIONS.flatMap(section => {
    const listed = manifest[section];
    return typeof listed === "object" && listed !== null ? Object.entries(listed) : [];
  });
  return new Map(
    entries.filter((entry): entry is [string, string] => {
      const [, range] = entry;
      return typeof range === "string" && isVersionRange(range);
    }),
  );
}
