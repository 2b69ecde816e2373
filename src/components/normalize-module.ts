import { type Message, transform } from "esbuild";
import type { SourceModule } from "./load-modules.ts";

/**
 * Normal form of one file before it is bundled: plain JavaScript without comments and blanks, by esbuild's
 * `transform`, whose file system is empty. Two doors to our disk are shut here, because `build` opens them
 * whatever its plugins say (read in esbuild 0.28.2): `import("./" + x)` lists folders, and a `sourceMappingURL`
 * comment names a file to read.
 */
export interface NormalModule {
  /** Ends in a source map comment of ours. */
  text: string;
  /** The same without the map. */
  code: string;
}

// A literal without a placeholder, alone or followed by import attributes: an ordinary import.
const LITERAL = String.raw`(?:"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|\x60(?:[^\x60\\$]|\\.|\$(?!\{))*\x60)[),]`;
// A method named `require`; no quotes, so that no argument of a call passes for a parameter list.
const METHOD = String.raw`[\w$,={}\[\].:]*\)\{`;
const DYNAMIC_REQUIRE = new RegExp(String.raw`(?<![\w$.#])require(\?\.)?\((?!${LITERAL}|${METHOD}|\))`, "g");
const DYNAMIC_IMPORT = new RegExp(
  String.raw`(?<![\w$.#])(import(?:\.[a-z]+)?)\((?=["'\x60])(?!${LITERAL})`,
  "g",
);

/**
 * esbuild reads a pattern of files out of an import whose text begins with a literal, and out of each arm of a
 * `?:` inside `require`; neither is one after this, and the value at run time is the same.
 */
export function withoutFilePatterns(code: string): string {
  return code
    .replace(DYNAMIC_REQUIRE, (_match, optional = "") => `(0,require)${optional}(`)
    .replace(DYNAMIC_IMPORT, "$1(globalThis.undefined||");
}

const mapComment = (map: object): string =>
  `\n//# sourceMappingURL=data:application/json;base64,${Buffer.from(JSON.stringify(map)).toString("base64")}\n`;

/** Maps nothing but a line below the text, so that esbuild leaves the file out of the bundle's map. */
export function withoutMap(code: string): string {
  const mappings = `${";".repeat(code.split("\n").length + 2)}AAAA`;
  return code + mapComment({ version: 3, sources: [""], mappings });
}

/** The last such comment counts; this scheme is one esbuild does not follow. */
const FORGET_MAP = "\n//# sourceMappingURL=none:\n";

const SETTINGS = {
  platform: "node",
  target: "esnext",
  minifyWhitespace: true,
  legalComments: "none",
  charset: "utf8",
  logLevel: "silent",
  tsconfigRaw: "{}",
} as const;

async function ownTransform(module: SourceModule, loader: "js" | "ts"): Promise<NormalModule> {
  const { code, map } = await transform(module.text + FORGET_MAP, {
    ...SETTINGS,
    loader,
    sourcemap: "external",
    sourcesContent: false,
    sourcefile: module.id,
  });
  const safe = withoutFilePatterns(code);
  // Columns after a rewritten import are off by a few; lines stand.
  const mapped = { ...JSON.parse(map), sources: [module.id] };
  return { code: safe, text: safe + mapComment(mapped) };
}

/** A file of the component. Throws esbuild's failure, whose `errors` stand at the file's own lines and columns. */
export async function normalizeOwn(module: SourceModule): Promise<NormalModule> {
  if (module.language === "json") return { code: module.text, text: module.text };
  if (module.language !== "script") return ownTransform(module, module.language);
  try {
    return await ownTransform(module, "js");
  } catch (error) {
    if (!("errors" in (error as object))) throw error;
    // TypeScript is nearly a superset: where it is refused too, its complaint stands at the true fault.
    return ownTransform(module, "ts");
  }
}

/** A file of an npm package as CommonJS or ESM; it has no place in stacks, so no map. */
export async function normalizePackaged(text: string, language: "js" | "ts" | "json"): Promise<string> {
  if (language === "json") return withoutMap(`module.exports=JSON.parse(${JSON.stringify(text)});`);
  const { code } = await transform(text + FORGET_MAP, { ...SETTINGS, loader: language });
  return withoutMap(withoutFilePatterns(code));
}

/** A module that throws as `require` does where there is no such package; compiled ones count as not there. */
export function missingModule(name: string): string {
  const why = name.endsWith(".node") ? ": packages with compiled parts can't be used" : "";
  const message = JSON.stringify(`Cannot find module '${name}'${why}`);
  return withoutMap(
    `throw Object.assign(new Error(${message}),{code:"MODULE_NOT_FOUND"});module.exports={};`,
  );
}

/** `line 3, column 7: …`, as editors count. */
export function placeOf(message: Message): string {
  const { location, text } = message;
  return location === null ? text : `line ${location.line}, column ${location.column + 1}: ${text}`;
}
