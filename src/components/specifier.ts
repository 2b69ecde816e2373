import { isBuiltin } from "node:module";

/** What an import of a component's own file asks for. */
export type Specifier =
  | { kind: "relative" }
  | { kind: "builtin"; name: string }
  | { kind: "package"; name: string; range: string; subpath: string }
  | { kind: "refused"; reason: string };

// The first sign is a letter or digit, so that no name can be read as an option, a path or a scope of its own.
const PART = "[a-zA-Z0-9][a-zA-Z0-9._~-]*";
const PACKAGE = new RegExp(`^((?:@${PART}/)?${PART})(?:@([^/]*))?(?:/(.+))?$`);
const NUMBER = "(?:0|[1-9][0-9]{0,8}|x|X|\\*)";
const RANGE = new RegExp(
  `^(?:[\\^~=]|>=)?v?${NUMBER}(?:\\.${NUMBER}){0,2}(?:-[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*)?(?:\\+[0-9A-Za-z.-]+)?$`,
);
// No dot and no slash: npm reads such a text as a file or as a git address.
const TAG = /^[a-zA-Z][a-zA-Z0-9-]{0,31}$/;

/** True for a version, a simple range or a dist-tag; npm takes nothing else from component code. */
export function isVersionRange(text: string): boolean {
  if (text.length > 64 || /\.(tgz|tar|gz)$/i.test(text)) return false;
  return RANGE.test(text) || TAG.test(text);
}

function isCleanSubpath(subpath: string): boolean {
  if (/[\\%\0?#]/.test(subpath)) return false;
  return subpath.split("/").every(part => part !== "" && part !== "." && part !== "..");
}

/**
 * Sorts an import specifier (runtime.md, "Imports"): a relative file, a Node built-in, or an npm package with an
 * optional version (`axios@0.20.0/lib/x`). Everything else (absolute paths, URLs, `#imports`) is refused.
 */
export function readSpecifier(text: string): Specifier {
  if (/^\.{1,2}(\/|$)/.test(text)) return { kind: "relative" };
  if (isBuiltin(text)) return { kind: "builtin", name: text.replace(/^node:/, "") };
  if (text.startsWith("node:")) return { kind: "refused", reason: "Node has no such built-in module" };
  const match = PACKAGE.exec(text);
  const [, name = "", range, subpath = ""] = match ?? [];
  if (match === null || name.length > 214 || name === "node_modules") {
    return {
      kind: "refused",
      reason: "only relative files, npm packages and Node built-ins can be imported",
    };
  }
  if (range !== undefined && !isVersionRange(range)) {
    return { kind: "refused", reason: "after @ comes a version (1.2.3, ^1.2, 1.x) or a tag (latest)" };
  }
  if (subpath !== "" && !isCleanSubpath(subpath)) {
    return { kind: "refused", reason: "the path inside the package is not a plain path" };
  }
  return { kind: "package", name, range: range ?? "", subpath };
}
