import { SourceMap } from "node:module";
import { posix } from "node:path";
import type { Location, Message } from "esbuild";
import { PLACE_OF, withComputedImports } from "./computed-imports.ts";
import type { Esbuild } from "./esbuild-process.ts";
import type { SourceModule } from "./load-modules.ts";
import { ownPlace } from "./package-files.ts";

/**
 * The normal form of a file before it is bundled: plain JavaScript without comments and white space. It is made by
 * esbuild's `transform`, which can't access files. It prevents two ways in which `build` reads the server's disk
 * whatever its plugins do (found in the code of esbuild 0.28.2): for `import("./" + x)` it lists folders, and it reads
 * the file that a `sourceMappingURL` comment names.
 */
export interface NormalModule {
  /** The code with a source map comment at its end. */
  text: string;
  /** The code without the source map. */
  code: string;
}

// An ordinary import: a literal without a placeholder, alone or followed by import attributes.
const LITERAL = String.raw`(?:"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|\x60(?:[^\x60\\$]|\\.|\$(?!\{))*\x60)[),]`;
// A method named `require`. Quotes are excluded, so that arguments of a call are not mistaken for parameters.
const METHOD = String.raw`[\w$,={}\[\].:]*\)\{`;
const DYNAMIC_REQUIRE = new RegExp(String.raw`(?<![\w$.#])require(\?\.)?\((?!${LITERAL}|${METHOD}|\))`, "g");
const DYNAMIC_IMPORT = new RegExp(
  String.raw`(?<![\w$.#])(import(?:\.[a-z]+)?)\((?=["'\x60])(?!${LITERAL})`,
  "g",
);

/**
 * Rewrites computed imports so that esbuild does not read a file pattern from them, which it does if the text starts
 * with a literal, and for each branch of a `?:` inside `require`. The value at run time stays the same.
 */
export function withoutFilePatterns(code: string): string {
  return code
    .replace(DYNAMIC_REQUIRE, (_match, optional = "") => `(0,require)${optional}(`)
    .replace(DYNAMIC_IMPORT, "$1(globalThis.undefined||");
}

const mapComment = (map: object): string =>
  `\n//# sourceMappingURL=data:application/json;base64,${Buffer.from(JSON.stringify(map)).toString("base64")}\n`;

/**
 * Adds a source map that covers only a line below the text, so that esbuild leaves the file out of the bundle's map.
 */
export function withoutMap(code: string): string {
  const mappings = `${";".repeat(code.split("\n").length + 2)}AAAA`;
  return code + mapComment({ version: 3, sources: [""], mappings });
}

/** The last `sourceMappingURL` comment counts. esbuild does not read URLs with this scheme. */
const NO_SOURCE_MAP = "\n//# sourceMappingURL=none:\n";

const SETTINGS = {
  platform: "node",
  target: "esnext",
  minifyWhitespace: true,
  legalComments: "none",
  charset: "utf8",
  logLevel: "silent",
  tsconfigRaw: "{}",
  // deno has no decorators. JSON is a module like any other here, so `with { type: "json" }`, or `assert`, would be wrong.
  supported: { decorators: false, "import-assertions": false, "import-attributes": false },
} as const;

/** Moves places beyond the end of a file, which are in the comment that follows it, to its end; returns the error. */
function withinText(error: unknown, text: string): unknown {
  const lines = text.split("\n");
  for (const { location } of (error as { errors?: Message[] }).errors ?? []) {
    if (location === null || location.line <= lines.length) continue;
    location.line = lines.length;
    location.column = lines.at(-1)?.length ?? 0;
  }
  return error;
}

async function ownTransform(
  esbuild: Esbuild,
  module: SourceModule,
  loader: "js" | "jsx" | "ts" | "tsx",
): Promise<NormalModule> {
  const options = { loader, sourcemap: "external", sourcesContent: false, sourcefile: module.id } as const;
  const { code, map } = await esbuild
    .transform(module.text + NO_SOURCE_MAP, { ...SETTINGS, ...options })
    .catch((error: unknown) => {
      throw withinText(error, module.text);
    });
  const safe = withoutFilePatterns(code);
  // Columns after a rewritten import are off by a few characters; lines are exact.
  const mapped = { ...JSON.parse(map), sources: [module.id] };
  return { code: safe, text: safe + mapComment(mapped) };
}

/**
 * Normalises a file of the component. Throws esbuild's error, whose `errors` refer to lines and columns of the file.
 */
export async function normalizeOwn(esbuild: Esbuild, module: SourceModule): Promise<NormalModule> {
  if (module.language === "json") return { code: module.text, text: module.text };
  if (module.language !== "script") return ownTransform(esbuild, module, module.language);
  try {
    return await ownTransform(esbuild, module, "js");
  } catch (error) {
    if (!("errors" in (error as object))) throw error;
    // TypeScript is nearly a superset of JavaScript: if parsing fails again, the location of this error is the right
    // one.
    return ownTransform(esbuild, module, "ts").catch(asTypeScript =>
      ownTransform(esbuild, module, "tsx").catch(() => {
        throw asTypeScript;
      }),
    );
  }
}

// `require(__dirname + "/x")` and `require(path.join(__dirname, "x", "y"))`, without white space.
const WORDS = String.raw`"[^"\\\n]+"`;
const REQUIRE_BESIDE = new RegExp(
  String.raw`(?<![\w$.#])require\((?:__dirname\+(${WORDS})|(?:[\w$]+\.)?(?:join|resolve)\(__dirname,(${WORDS}(?:,${WORDS})*)\))\)`,
  "g",
);

/** Rewrites imports of files beside a file, so that they are found when the code is bundled. */
function withRequiresBeside(code: string): string {
  return code.replace(REQUIRE_BESIDE, (_match, added?: string, joined?: string) => {
    const parts = JSON.parse(`[${added ?? joined}]`) as string[];
    return `require(${JSON.stringify(`./${posix.join(...parts).replace(/^\//, "")}`)})`;
  });
}

const RESOLVE = new RegExp(String.raw`(?<![\w$.#])require\.resolve\((${WORDS})\)`, "g");

/** Rewrites `require.resolve("./x")` as the import of a module that is the place of that file. */
const withPlaces = (code: string): string =>
  code.replace(RESOLVE, (_match, name: string) => `require(${JSON.stringify(PLACE_OF + JSON.parse(name))})`);

/** A file without a parent is the program itself, which no file of a package is; returns that for the bundler's `define`. */
const parentOf = (code: string): Record<string, string> =>
  code.includes("module.parent") ? { "module.parent": "module" } : {};

/**
 * Normalises a file of an npm package. It has no source map, because it does not appear in stacks. `inside` is its path in the
 * folder of the packages.
 */
export async function normalizePackaged(
  esbuild: Esbuild,
  text: string,
  language: "js" | "ts" | "json",
  inside: string,
): Promise<string> {
  if (language === "json") {
    const json = text.replace(/^\uFEFF/, "");
    return withoutMap(`module.exports=JSON.parse(${JSON.stringify(json)});`);
  }
  const { code } = await esbuild.transform(text + NO_SOURCE_MAP, {
    ...SETTINGS,
    loader: language,
  });
  const beside = withPlaces(withRequiresBeside(code));
  const define = { ...ownPlace(beside, inside), ...parentOf(beside) };
  const placed =
    Object.keys(define).length > 0 ? (await esbuild.transform(beside, { ...SETTINGS, define })).code : beside;
  return withoutMap(withoutFilePatterns(withComputedImports(placed)));
}

/** Returns a module that throws the error of `require` for a missing package. Native addons count as missing. */
export function missingModule(name: string): string {
  const reason = name.endsWith(".node") ? ": packages with native addons are not supported" : "";
  const message = JSON.stringify(`Cannot find module '${name}'${reason}`);
  return withoutMap(
    `throw Object.assign(new Error(${message}),{code:"MODULE_NOT_FOUND"});module.exports={};`,
  );
}

/** Returns the place in the author's file of a place in its normal form with source map; null if there is none. */
export function inSource(location: Location | null, normalText: string): Location | null {
  const map = /\/\/# sourceMappingURL=data:application\/json;base64,(\S+)\s*$/.exec(normalText)?.[1];
  if (location === null || map === undefined) return null;
  const payload = JSON.parse(Buffer.from(map, "base64").toString());
  const found = new SourceMap(payload).findEntry(location.line - 1, location.column);
  if (!("originalLine" in found)) return null;
  return { ...location, line: found.originalLine + 1, column: found.originalColumn };
}

/** Returns `line 3, column 7: …`, counted from 1 as in editors. */
export function formatMessage(message: Message): string {
  const { location, text } = message;
  return location === null ? text : `line ${location.line}, column ${location.column + 1}: ${text}`;
}
