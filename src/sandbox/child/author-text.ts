import type { CallRequest } from "../protocol.ts";
import { type Component, objectOf, propsOf } from "./component.ts";
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

const MASK = "***";
/** Shorter values are words such as `true`, or of a region. */
const MIN_CHARS = 8;
/** Fields of a connection that are not secret, and without which an error is hard to read. */
const PLAIN_FIELD =
  /(?:url|uri|host|domain|region|email|user|username|name|account|tenant|version|type|_?id)$/i;

/** The end of a field's name. Bounds, here and below, keep the expressions from being slow for a long text. */
const NAME = String.raw`(?:token|secret|passw(?:or)?d|api[-_]?key|authorization|cookie|credential|private[-_]?key)[\w-]{0,40}`;
const PATTERNS: [RegExp, string][] = [
  // `"access_token": "…"`, `api_key=…`, `x-auth-token: …`
  [new RegExp(String.raw`(${NAME}["']?\s{0,9}[:=]\s{0,9}["']?)[^\s"'&,;}]{12,}`, "gi"), `$1${MASK}`],
  [/([?&](?:sig|signature|key|auth|code|jwt|pass|pwd|token|access|x-amz-[\w-]*)=)[^&\s"'#)]+/gi, `$1${MASK}`],
  [/\b([Bb]asic|[Bb]earer)\s+(?=\S*\d|\S*[a-z][A-Z])[\w.~+/=-]{8,}/g, `$1 ${MASK}`],
  [/(\b[a-z][\w+.-]{0,20}:\/\/)[^\s/@"']+@/gi, `$1${MASK}@`],
];

/** Returns the values that a call has as secrets: those of secret props, and of its accounts. */
export function secretsOf(
  component: Component,
  { props, added = [] }: Pick<CallRequest, "props" | "added">,
  others: readonly string[] = [],
): string[] {
  const isSecret = new Set<string>();
  try {
    for (const [name, { secret }] of propsOf(component)) if (secret) isSecret.add(name);
  } catch {
    // Its props can't be read, which is what the call failed of.
  }
  for (const { name, secret } of added) if (secret) isSecret.add(name);
  const ofProps = Object.entries(props).flatMap(([name, value]) => [
    ...(isSecret.has(name) ? textsIn(value, 0) : []),
    ...Object.entries(objectOf(objectOf(value).$auth)).flatMap(([field, one]) =>
      PLAIN_FIELD.test(field) ? [] : textsIn(one, 0),
    ),
  ]);
  // The longest first: one may contain another.
  const found = [...ofProps, ...others.flatMap(value => textsIn(value, 0))];
  return [...new Set(found)].filter(text => text.length >= MIN_CHARS).sort((a, b) => b.length - a.length);
}

function textsIn(value: unknown, depth: number): string[] {
  if (typeof value === "string") {
    // It throws for half of a pair.
    const inUrls = encodeURIComponent(value.replace(/\p{Surrogate}/gu, "\uFFFD"));
    return [value, inUrls, JSON.stringify(value).slice(1, -1)];
  }
  return depth < 3 && typeof value === "object" && value !== null
    ? Object.values(value).flatMap(one => textsIn(one, depth + 1))
    : [];
}

/**
 * Returns a text without these secrets, nor the beginning of one where it was cut, and without what looks like one: credentials
 * in addresses, headers and fields.
 */
export function maskSecrets(text: string, secrets: readonly string[]): string {
  const own = secrets.reduce((rest, secret) => withoutCut(rest.replaceAll(secret, MASK), secret), text);
  return PATTERNS.reduce((rest, [pattern, mask]) => rest.replace(pattern, mask), own);
}

function withoutCut(text: string, secret: string): string {
  const at = text.lastIndexOf(secret.slice(0, MIN_CHARS));
  return at !== -1 && secret.startsWith(text.slice(at)) ? text.slice(0, at) + MASK : text;
}
