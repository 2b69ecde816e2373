import { PACKAGE_FILES, sourceFolder } from "./source-folder.ts";
import { OWN_FILE } from "./wire.ts";

// Stored before `redirect-tmp.ts` replaces them, because the bundle may be below `/tmp`.
const { readFileSync } = process.getBuiltinModule("node:fs");

/** Frames of Headwater and of deno, which are of no use to the author; behind the last one `inspect` opens a bracket. */
const FOREIGN_FRAME =
  /\n[ \t]+at (?:[^\n]*[ (])?(?:ext:|node:|file:[^\s)]*\/prelude\.js)[^\s]*( \{)?(?=\n|$)/g;
/** A file of the author's in a place, or, in a frame, as the name of the function that the bundler makes of a file of CommonJS. */
const OWN_NAME = String.raw`((?! )(?:(?!${OWN_FILE})[^\n])+?)`;
// What stands before a name is looked at only where there is one: a long text would take seconds.
const OWN_PLACE = new RegExp(
  String.raw`\b${OWN_FILE}(?:${OWN_NAME}(?=:\d+:\d+)|(?<=\n[ \t]+at [^\n(]{0,110})${OWN_NAME}(?= \())`,
  "g",
);
/** A place in the bundle, also as it is loaded for the second and each further source of a shared process. */
const PLACE = /component\.mjs(?:\?source=\d+)?:(\d+):(\d+)/g;
const FURTHER_SOURCE = /component\.mjs\?source=\d+/g;

/** What deno says of a file that the component may not read. Its flags are of no use to the author. */
const DENIED = /Requires (\w+) access to (.+?), run again with the --allow-[\w-]+ flag(?:[^\n]*)/g;
const PACKAGE_FILE_GONE = new RegExp(String.raw`ENOENT: [^\n]*?${PACKAGE_FILES}/[^'"\s]+['"]?`, "g");
const WITH_IT =
  "files that the code imports by a fixed name, or one with a fixed folder, are, and up to 8 MB of data beside the code of its packages";

type PlaceOf = (line: number, column: number) => string | undefined;

/** Paths of this machine and what the author knows them as. */
let replacements: [string, string][] = [];
let modulePath = "";
let mapped: PlaceOf = () => undefined;
let packaged: ((line: number) => string | undefined) | undefined;

/** Has paths of the workspace hidden in every text that leaves the sandbox for the component's author. */
export function hidePaths(workspace: { modulePath: string; privateFolder: string }): void {
  modulePath = workspace.modulePath;
  const { href } = new URL(`file://${modulePath}`);
  replacements = [
    [workspace.privateFolder, "/tmp"],
    [href, "component.mjs"],
    // Bundles of earlier releases: deno resolves the names of their own files against the module.
    [new URL(".", href).href, ""],
    [new URL("..", href).href, "../"],
    [modulePath, "component.mjs"],
    [modulePath.replace(/[^/]+\/[^/]+$/, ""), ""],
  ];
}

/** Has places in the bundle replaced by those in the component's own files, which deno does itself for modules. */
export function mapPlaces(find: PlaceOf): void {
  mapped = find;
}

/** Returns a text as the component's author is to read it: without this machine's paths, and with frames of the component only. */
export function authorText(text: string): string {
  const ours = `\n${text}`.replace(FOREIGN_FRAME, "$1").slice(1);
  const folder = sourceFolder();
  const inFolder = folder ? ours.replaceAll(folder, "/tmp") : ours;
  return replacements
    .reduce((rest, [path, name]) => rest.replaceAll(path, name), inFolder)
    .replace(
      PLACE,
      (_, line, column) => placeOf(Number(line), Number(column)) ?? `component.mjs:${line}:${column}`,
    )
    .replace(FURTHER_SOURCE, "component.mjs")
    .replace(DENIED, (_, access, what) =>
      (access === "read" || access === "import") && !what.startsWith('"/tmp')
        ? `${what} is not with the component: ${WITH_IT}`
        : `components have no ${access} access to ${what}`,
    )
    .replace(PACKAGE_FILE_GONE, found => `${found} is not with the component: ${WITH_IT}`)
    .replace(OWN_PLACE, (_, inPlace?: string, inFrame = "") => readable(inPlace ?? inFrame));
}

function readable(name: string): string {
  try {
    return decodeURI(name);
  } catch {
    return name;
  }
}

/** A file of a package has no lines that its author would know. */
function placeOf(line: number, column: number): string | undefined {
  packaged ??= readPackagedPlaces(modulePath);
  return packaged(line) ?? mapped(line, column);
}

const COMMENT = "\n// ";
const BUNDLER = "bundled code";

/** Reads which lines of a bundle are which file of a package: the bundle contains a comment with its name before each file. */
function readPackagedPlaces(path: string): (line: number) => string | undefined {
  const text = readFileSync(path);
  const starts: [line: number, name: string | undefined][] = [];
  let [line, counted] = [1, 0];
  for (let at = text.indexOf(COMMENT); at !== -1; at = text.indexOf(COMMENT, at + 1)) {
    for (let end = text.indexOf(10, counted); end !== -1 && end <= at; end = text.indexOf(10, end + 1))
      line += 1;
    counted = at + 1;
    const name = text.toString("utf8", at + COMMENT.length, at + 500).split("\n", 1)[0] ?? "";
    const [, kind, file = ""] = /^(own|npm|missing)[a-z-]*:(.*)$/.exec(name) ?? [];
    if (kind) starts.push([line, kind === "own" ? undefined : nameOfPackaged(file)]);
  }
  // Before the first file are the bundler's own helpers.
  const ofBundler = starts.length > 0 ? BUNDLER : undefined;
  return wanted => {
    const found = starts.findLast(([start]) => start <= wanted);
    return found ? found[1] : ofBundler;
  };
}

/** `npm:axios/lib/core/settle.js`, whose extension the bundler may have doubled. */
const nameOfPackaged = (file: string): string =>
  `npm:${file.replace(/^.*node_modules\//, "").replace(/(\.[cm]?[jt]s)\.mjs$/, "$1")}`;
