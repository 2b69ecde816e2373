import { SCRIPT_START } from "./wire.ts";

// Stored before `redirect-tmp.ts` replaces them, because the bundle may be below `/tmp`.
const { closeSync, openSync, readFileSync, readSync } = process.getBuiltinModule("node:fs");

/** A bundle in the form of a script, compiled. */
export interface BundleScript {
  /** Evaluates it once more, and returns what it exports. */
  evaluate(): Record<string, unknown>;
  /** Returns the place in the component's own files, as `app.mjs:3:9`; undefined if there is none. Both count from 1. */
  placeOf(line: number, column: number): string | undefined;
}

type Wrapper = (exports: object, require: unknown, module: { exports: Record<string, unknown> }) => void;

/**
 * Returns the bundle in a file if it has the form of a script, which is compiled by V8 alone: deno's parser, which only sees
 * modules, takes twenty times the size of the code. Returns undefined for a module.
 *
 * @param href the file's URL, as it is in stacks
 */
export function openScript(path: string, href: string): BundleScript | undefined {
  if (!isScript(path)) return undefined;
  const text = readFileSync(path, "utf8");
  const { Script } = process.getBuiltinModule("node:vm");
  const { createRequire } = process.getBuiltinModule("node:module");
  const script = new Script(text, { filename: href });
  const require = createRequire("/component.js");
  return {
    evaluate() {
      const module = { exports: {} };
      (script.runInThisContext() as Wrapper)(module.exports, require, module);
      return module.exports;
    },
    placeOf: placesOf(text),
  };
}

function isScript(path: string): boolean {
  const start = Buffer.alloc(SCRIPT_START.length);
  const file = openSync(path, "r");
  try {
    readSync(file, start, 0, start.length, 0);
  } finally {
    closeSync(file);
  }
  return start.toString("latin1") === SCRIPT_START;
}

/** deno reads the source maps of modules only. */
function placesOf(text: string): BundleScript["placeOf"] {
  const { SourceMap } = process.getBuiltinModule("node:module");
  const { parse } = JSON;
  let map: InstanceType<typeof SourceMap> | undefined;
  return (line, column) => {
    map ??= new SourceMap(parse(Buffer.from(text.slice(text.lastIndexOf(",") + 1), "base64").toString()));
    const found = map.findEntry(line - 1, column - 1);
    if (!("originalSource" in found)) return undefined;
    return `${found.originalSource}:${found.originalLine + 1}:${found.originalColumn + 1}`;
  };
}
