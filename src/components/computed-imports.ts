import { AppError } from "../lib/errors.ts";
import type { SourceModule } from "./load-modules.ts";
import { isBuiltinModule } from "./specifier.ts";

/** Begins the name of a module that returns the files that a computed name may mean; what follows says which, as JSON. */
export const FILES_OF = "headwater-files:";

/** What a computed name may mean: every file with this beginning and end, or one of these. */
export type ComputedFiles = { isImport: boolean } & ({ head: string; tail: string } | { names: string[] });

/** Bounds, here and below, keep the expressions from being slow for a file that was written to make them so. */
const CALLED = String.raw`(?<![\w$.#])(import|[\w$]{0,40}[rR]equire)\((?:\/\*[^*]{0,100}\*\/)?`;
/** The beginning has a folder or a part of a name: `"./" + name` may mean anything. */
const HEAD = String.raw`\.{1,2}\/[^"\x60$\\\n]{0,200}\w[^"\x60$\\\n]{0,200}`;
const WITH_HEAD = new RegExp(String.raw`${CALLED}(?="(${HEAD})"\+|\x60(${HEAD})\$\{)`, "g");
const INNER = String.raw`(?:[^()"\x60\n]|\([^()"\x60\n]{0,100}\)){1,100}?`;
const CONCATENATED = new RegExp(String.raw`^"[^"]+"\+${INNER}(?:\+"([^"\\\n]{0,200})")?\)`);
const TEMPLATE = /^`[^`$]+\$\{[^{}`\n]{1,200}\}([^`$\\\n]{0,200})`\)/;
/** `import(place)`, but no method of that name. */
const WITHOUT_HEAD = /(?<![\w$.#])import\((?:\/\*[^*]{0,100}\*\/)?(?=[\w$])(?![\w$,={}[\].:]{0,200}\)\{)/g;
const NAMES = /["'`](\.{1,2}\/[\w./-]{1,200}\.[cm]?js)["'`]/g;
const MOST_NAMES = 20;

/**
 * Rewrites calls of `require` and `import` with a computed name, in a file of a package: if the name begins with a fixed text, such as
 * `"./locale/" + name`, all files of the package that it may mean are found; of any other `import`, those that the file names
 * somewhere, such as the default of a setting.
 *
 * @param code without comments and white space
 */
export function withComputedImports(code: string): string {
  const withHeads = code.replace(WITH_HEAD, (call, callee, quoted, inTemplate, at: number) => {
    const rest = code.slice(at + call.length, at + call.length + 800);
    const [, tail = ""] = (quoted === undefined ? TEMPLATE : CONCATENATED).exec(rest) ?? [];
    return calling({ isImport: callee === "import", head: quoted ?? inTemplate, tail });
  });
  if (!WITHOUT_HEAD.test(withHeads)) return withHeads;
  const names = [...new Set([...withHeads.matchAll(NAMES)].map(([, name = ""]) => name))].slice(
    0,
    MOST_NAMES,
  );
  return names.length === 0
    ? withHeads
    : withHeads.replace(WITHOUT_HEAD, () => calling({ isImport: true, names }));
}

const calling = (files: ComputedFiles): string =>
  `require(${JSON.stringify(FILES_OF + JSON.stringify(files))})(`;

/** What may follow a name, as Node looks for it. */
const ENDS = ["", ".js", ".json", ".cjs", ".mjs", "/index.js", "/index.json"];
const MODULE = /\.(?:[cm]?js|json)$/;
/** With more, the code does not choose among files of its own. */
const MOST_FILES = 1000;

/**
 * Returns the imports by which a file finds the files that a computed name may mean.
 *
 * @param folder of the file, and `paths` those of its package, both in the folder of the packages
 */
export function importsOf(files: ComputedFiles, folder: string, paths: readonly string[]): string[] {
  if ("names" in files) return files.names.filter(name => paths.includes(joined(folder, name)));
  const { head, tail } = files;
  const start = joined(folder, head);
  const found = paths
    .filter(path => path.startsWith(start) && MODULE.test(path))
    .filter(path => ENDS.some(end => path.endsWith(tail + end)))
    .map(path => head + path.slice(start.length));
  return found.length > MOST_FILES ? [] : found;
}

const joined = (folder: string, name: string): string =>
  new URL(name, `file:///${folder}/`).pathname.slice(1);

/** Returns the code of a module that is the function to call with a computed name. */
export function moduleOfFiles(imports: readonly string[], isImport: boolean): string {
  const call = isImport ? "import" : "require";
  const known = imports.map(name => `${JSON.stringify(name)}:()=>${call}(${JSON.stringify(name)})`);
  const gone = `Object.assign(new Error("Cannot find module '"+path+"': it is not with the component"),{code:"MODULE_NOT_FOUND"})`;
  // Only an `import` may be called with the name of a package: a name with a fixed beginning is a path.
  const otherwise = isImport
    ? `/^\\./.test(path)?Promise.reject(${gone}):import(path)`
    : `(()=>{throw ${gone}})()`;
  return `const known={__proto__:null,${known.join(",")}};
module.exports=path=>{for(const end of ${JSON.stringify(ENDS)})if(path+end in known)return known[path+end]();return ${otherwise}};`;
}

/** Bounds, here and below, keep the expressions from being slow for a file that was written to make them so. */
const NAME = String.raw`[\w$]{1,100}`;
const PART = String.raw`[\w$]{0,60}`;
/** Where a name begins, but for names of properties. */
const START = String.raw`(?<![\w$.#])`;
/** `createRequire(import.meta.url)`, `module.createRequire(x)`, `(0, module.createRequire)(x)`, with any name that is given for it. */
const MADE = String.raw`${START}(?:\(0,)?(?:${NAME}\.){0,5}(?:CREATE)\)?\((?:[^()]|\([^()]{0,300}\)){0,300}\)`;

const anyOf = (pattern: string, names: string[]): string =>
  [pattern, ...names.slice(0, MOST_NAMES).map(name => name.replaceAll("$", String.raw`\$`))].join("|");

/**
 * Returns what a file requires, as a text, with a `require` that it makes by `createRequire`, but for Node's built-in modules:
 * the bundler sees no import in such a call. By names: those that a `createRequire` is assigned to, and those that contain
 * `require`, because bundlers pass it on to functions of their own.
 *
 * @param code without comments and white space
 */
export function madeRequires(code: string): string[] {
  if (!code.includes("createRequire")) return [];
  const namesOf = (pattern: string) => [
    ...new Set([...code.matchAll(new RegExp(pattern, "g"))].map(([, name = ""]) => name)),
  ];
  const create = anyOf(`${PART}[cC]reateRequire${PART}`, namesOf(`createRequire(?: as |:)(${NAME})`));
  const made = MADE.replace("CREATE", () => create);
  const called = anyOf(`${PART}[rR]equire${PART}`, namesOf(`${START}(${NAME})=${made}`));
  const required = namesOf(
    String.raw`(?:${made}|${START}(?!(?:${create})\()(?:${called}))\("([^"\\\n]{1,300})"\)`,
  );
  return required.filter(name => !isBuiltinModule(name));
}

/**
 * Returns the code of a module that a file gets as `node:module`: each `require` that its `createRequire` makes knows what
 * the file requires by it. The imports in it mean what they mean in that file.
 */
export function moduleThatRequires(names: readonly string[]): string {
  const known = names.map(name => `${JSON.stringify(name)}:()=>require(${JSON.stringify(name)})`);
  return `const builtin=require("node:module"),known={__proto__:null,${known.join(",")}};
const createRequire=place=>{const required=builtin.createRequire(place);
return Object.assign(name=>name in known?known[name]():required(name),required)};
module.exports=new Proxy(builtin,{get:(target,key)=>key==="createRequire"?createRequire:target[key]});`;
}

/**
 * Returns where a file imports `specifier`, as text for an error message: ` (app.mjs, line 2, column 8)`. Returns an
 * empty string if the specifier is not in an ordinary import. It searches the whole text, so it is for errors only.
 */
export function importLocation({ id, text }: Pick<SourceModule, "id" | "text">, specifier: string): string {
  const literal = specifier.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const found = new RegExp(`\\b(?:from|import|require)\\s*(?:\\(\\s*)?(?=(["'\`])${literal}\\1)`).exec(text);
  if (found === null) return "";
  const before = text.slice(0, found.index + found[0].length).split("\n");
  return ` (${id}, line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1})`;
}

/** Returns the same error with the location at the end of its messages. Errors other than AppError stay as they are. */
export function withLocation(error: unknown, location: string): unknown {
  if (!(error instanceof AppError) || location === "") return error;
  return new AppError(error.code, error.message + location, {
    fields: error.fields.map(field => ({ ...field, message: field.message + location })),
    cause: error.cause,
  });
}

/** Begins the name of a module that is the place of a file: `require.resolve("./x")` is an import of it. */
export const PLACE_OF = "headwater-place:";
