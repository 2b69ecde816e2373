import { SourceMap } from "node:module";
import { type BuildOptions, build, type Message, type Plugin } from "esbuild";
import { AppError } from "../lib/errors.ts";
import { bundlePlugin, ENTRY, nodeName } from "./bundle-plugin.ts";
import type { ModuleLoader } from "./load-modules.ts";
import { placeOf } from "./normalize-module.ts";
import {
  type InstalledPackages,
  installPackages,
  type PackageOptions,
  type PackageRequest,
} from "./npm-packages.ts";
import { ParserLost, ParserTooSlow, withParser } from "./parse-alone.ts";
import { placeOfImport } from "./place-of-import.ts";
import { type Closure, type ClosureModule, readClosure } from "./read-closure.ts";
import { PackageFolder } from "./resolve-package.ts";

/** A component as it is stored: one module that needs nothing beside it but Node's built-ins. */
export interface ComponentBundle {
  /** ESM, its default export the component; ends in an inline source map of the component's own files. */
  code: string;
  /** The entry file as it was given. */
  source: string;
  /** SHA-256 (hex) of the entry and all it imports by relative path. */
  hash: string;
  /** The component's own files, the entry first; paths relative to the entry's folder. */
  modules: string[];
  /** Pinned versions by the import's text (`axios`, `axios@0.20.0`). */
  packages: Record<string, string>;
}

export interface BundleOptions {
  /** Prepared npm packages are kept below it. */
  cacheDir: string;
  /** The npm settings of the operator; only what `npmEnvironment` keeps reaches npm. */
  npmEnvironment?: NodeJS.ProcessEnv;
  packagesLimit?: PackageOptions["packagesLimit"];
}

const MAX_BUNDLE_BYTES = 10 * 1024 * 1024;
const BUNDLE_MS = 30_000;

const SETTINGS = {
  entryPoints: [ENTRY],
  bundle: true,
  write: false,
  outfile: "/component.js",
  absWorkingDir: "/",
  platform: "node",
  format: "esm",
  target: "esnext",
  // Nothing of the folder that Headwater runs in counts.
  tsconfigRaw: "{}",
  charset: "utf8",
  legalComments: "none",
  logLevel: "silent",
  sourcemap: "external",
  sourcesContent: false,
  define: { __dirname: '"/"', __filename: '"/component.js"' },
  // CommonJS packages require built-ins. A global, because a `const` would clash with one of the component's own.
  banner: {
    js: 'import { createRequire as headwaterCreateRequire } from "node:module"; globalThis.require ??= headwaterCreateRequire("/component.js");',
  },
} satisfies BuildOptions;

/**
 * Turns a component's code into a self-contained module (design.md, "Component runtime"). No code runs, and no file
 * is read but the loader's and the prepared packages'. Throws AppError invalid naming the loader's field (a syntax
 * error with line and column, an import that can't be had, a limit), or unavailable without a registry.
 */
export async function bundleComponent(
  loader: ModuleLoader,
  options: BundleOptions,
): Promise<ComponentBundle> {
  const closure = await readClosure(loader);
  const requests = packagesOf(closure);
  const installed =
    requests.length > 0 ? await installPackages(requests, { ...options, field: loader.field }) : null;
  const code = await link(closure, installed, loader);
  const own = [...closure.modules.values()];
  return {
    code,
    source: closure.entry.source.text,
    hash: closure.hash,
    modules: own.map(module => module.id),
    packages: installed?.versions ?? {},
  };
}

function packagesOf(closure: Closure): PackageRequest[] {
  return [...closure.modules.values()].flatMap(({ source, imports }) =>
    [...imports].flatMap(([specifier, target]) =>
      target.kind === "package"
        ? [{ name: target.name, range: target.range, place: () => placeOfImport(source, specifier) }]
        : [],
    ),
  );
}

async function link(
  closure: Closure,
  installed: InstalledPackages | null,
  loader: ModuleLoader,
): Promise<string> {
  const refuse = (message: string, cause: unknown) =>
    new AppError("invalid", `${loader.field.path}: ${message}`, {
      fields: [{ ...loader.field, message }],
      cause,
    });
  let refused: AppError | undefined;
  const plugin: Plugin = bundlePlugin({
    closure,
    installed,
    folder: installed && new PackageFolder(installed.folder),
    refuse: message => {
      refused ??= refuse(message, undefined);
      return refused;
    },
  });
  try {
    const { outputFiles } = await withParser(BUNDLE_MS, () => build({ ...SETTINGS, plugins: [plugin] }));
    return withMap(outputFiles, message => refuse(message, undefined));
  } catch (error) {
    if (error instanceof AppError) throw error;
    if (refused !== undefined) throw refused;
    if (error instanceof ParserLost || error instanceof ParserTooSlow) throw refuse(error.message, error);
    const [first] = (error as { errors?: Message[] }).errors ?? [];
    throw first === undefined ? error : refuse(describeFailure(first, closure), error);
  }
}

function describeFailure(message: Message, closure: Closure): string {
  if (message.location?.file === `own:${ENTRY}`) {
    return `${closure.entry.id} has no default export (nor module.exports) that is a component`;
  }
  const file = message.location?.file.replace(/^(own|npm):/, "");
  const own = [...closure.modules.values()].find(({ id, format }) => nodeName(id, format) === file);
  if (file === undefined) return placeOf(message);
  const text = message.text.replaceAll(/(?<=")(?:own|npm):/g, "");
  return own === undefined ? `${file}: ${text}` : `${own.id}: ${placeInSource(message, own)}${text}`;
}

/** esbuild speaks of the file's normal form; its map leads back to the author's line. */
function placeInSource({ location }: Message, { text }: ClosureModule): string {
  const map = /\/\/# sourceMappingURL=data:application\/json;base64,(\S+)\s*$/.exec(text)?.[1];
  if (location === null || map === undefined) return "";
  const payload = JSON.parse(Buffer.from(map, "base64").toString());
  const found = new SourceMap(payload).findEntry(location.line - 1, location.column);
  if (!("originalLine" in found)) return "";
  return `line ${found.originalLine + 1}, column ${found.originalColumn + 1}: `;
}

function withMap(files: { path: string; text: string }[], refuse: (message: string) => AppError): string {
  const code = files.find(file => file.path.endsWith(".js"))?.text ?? "";
  const map = JSON.parse(files.find(file => file.path.endsWith(".map"))?.text ?? "{}");
  const inline = Buffer.from(JSON.stringify({ ...map, file: undefined })).toString("base64");
  const whole = `${code}//# sourceMappingURL=data:application/json;base64,${inline}\n`;
  if (Buffer.byteLength(whole) > MAX_BUNDLE_BYTES)
    throw refuse("with all it imports, the code exceeds 10 MB");
  return whole;
}
