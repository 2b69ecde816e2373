import { isBuiltinModule } from "./specifier.ts";

/** Bounds, here and below, keep the expressions from being slow for a file that was written to make them so. */
const NAME = String.raw`[\w$]{1,100}`;
const PART = String.raw`[\w$]{0,60}`;
/** Where a name begins, but for names of properties. */
const START = String.raw`(?<![\w$.#])`;
/** `createRequire(import.meta.url)`, `module.createRequire(x)`, `(0, module.createRequire)(x)`, with any name that is given for it. */
const MADE = String.raw`${START}(?:\(0,)?(?:${NAME}\.){0,5}(?:CREATE)\)?\((?:[^()]|\([^()]{0,300}\)){0,300}\)`;

const MOST_NAMES = 20;

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
