import type { BuildOptions, Message, Plugin } from "esbuild";
import { LOCAL_ACCOUNT } from "../fairness/slots.ts";
import { AppError } from "../lib/errors.ts";
import { LIMITS } from "../limits/catalogue.ts";
import { OWN_FILE, SCRIPT_START } from "../sandbox/child/wire.ts";
import { isLargeBundle } from "./bundle-parts.ts";
import { bundlePlugin, ENTRY, nodeName } from "./bundle-plugin.ts";
import { importLocation } from "./computed-imports.ts";
import { type Esbuild, EsbuildCrashError, withEsbuild } from "./esbuild-process.ts";
import { type KnownPackages, withKnownPackages } from "./known-packages.ts";
import type { ModuleLoader } from "./load-modules.ts";
import { isOwnFile, type ModuleGraph, readModuleGraph } from "./module-graph.ts";
import { formatMessage, inSource } from "./normalize-module.ts";
import {
  type InstalledPackages,
  type PackageOptions,
  type PackageRequest,
  withPackages,
} from "./npm-packages.ts";
import { PackageFiles } from "./package-files.ts";

/** A component as one module that imports nothing but Node's built-in modules. */
export interface ComponentBundle {
  /**
   * ESM whose default export is the component, or the same in the form of a script (`src/sandbox/child/wire.ts`). Ends
   * with an inline source map of the component's own files.
   */
  code: string;
  /** The entry file as it was given. */
  source: string;
  /** SHA-256 (hex) of the entry and of all files that it imports by relative path. */
  hash: string;
  /** Paths of the component's own files, relative to the entry's folder. The entry is the first. */
  modules: string[];
  /** Pinned versions by the text of the import (`axios`, `axios@0.20.0`). */
  packages: Record<string, string>;
}

export type BundleOptions = Omit<PackageOptions, "field">;

const MAX_BUNDLE_BYTES = LIMITS.bundleBytes.value;
const BUNDLE_MS = 30_000;

/** CommonJS packages require built-in modules. It is a global, because a `const` could conflict with one in the code. */
const BANNER =
  'import { createRequire as headwaterCreateRequire } from "node:module"; globalThis.require ??= headwaterCreateRequire("/component.js");';

const SETTINGS = {
  entryPoints: [ENTRY],
  bundle: true,
  write: false,
  outfile: "/component.js",
  absWorkingDir: "/",
  platform: "node",
  format: "esm",
  target: "esnext",
  // Ignores the tsconfig.json of the folder that Headwater runs in.
  tsconfigRaw: "{}",
  charset: "utf8",
  legalComments: "none",
  logLevel: "silent",
  sourcemap: "external",
  sourcesContent: false,
  define: { __dirname: '"/"', __filename: '"/component.js"' },
  banner: { js: BANNER },
} satisfies BuildOptions;

const SCRIPT_BANNER = `${SCRIPT_START}globalThis.require??=require;`;

const SCRIPT_SETTINGS = {
  ...SETTINGS,
  format: "cjs",
  // V8 keeps text of other characters with two bytes for each.
  charset: "ascii",
  define: { ...SETTINGS.define, "import.meta.url": '"file:///component.js"' },
  supported: { "dynamic-import": false },
  banner: { js: SCRIPT_BANNER },
  footer: { js: "})" },
} satisfies BuildOptions;

/**
 * Turns a component's code into a self-contained module (docs/component-api.md#imports). It runs no code, and reads
 * only the loader's files and the installed packages. Throws AppError `invalid` that names the loader's field, for a
 * syntax error (with line and column), an import that can't be resolved or an exceeded limit; `unavailable` if the
 * npm registry can't be reached or there is no room for packages; and `rate-limited` if the account installs too many.
 */
export async function bundleComponent(
  loader: ModuleLoader,
  options: BundleOptions,
): Promise<ComponentBundle> {
  const graph = await readModuleGraph(loader, options.account);
  return bundleGraph(graph, loader, options);
}

/** Does the second part of `bundleComponent`, which installs packages: a caller may know the code by its hash before. */
export async function bundleGraph(
  graph: ModuleGraph,
  loader: ModuleLoader,
  options: BundleOptions,
): Promise<ComponentBundle> {
  const account = options.account ?? LOCAL_ACCOUNT;
  const requests = packageRequests(graph);
  const bundled = factsOf(graph);
  if (requests.length === 0) {
    return { ...bundled, code: await link(graph, null, loader, account), packages: {} };
  }
  return withPackages(requests, { ...options, field: loader.field }, async installed => ({
    ...bundled,
    code: await withKnownPackages(installed.folder, known =>
      link(graph, { installed, known }, loader, account),
    ),
    packages: installed.versions,
  }));
}

/**
 * Does the same for code of this release, with packages that are installed in the `node_modules` of `folder` (a real path) in
 * exactly the versions that the code asks for: it neither runs npm nor needs a network.
 *
 * @public script/lib/gallery.mjs imports it as it was compiled
 */
export async function bundleInstalled(loader: ModuleLoader, folder: string): Promise<ComponentBundle> {
  const graph = await readModuleGraph(loader);
  const packages = Object.fromEntries(packageRequests(graph).map(({ name, range }) => [name, range]));
  const installed = { folder, folderOf: ({ name }: PackageRequest) => name, versions: packages };
  const code = await withKnownPackages(folder, known =>
    link(graph, { installed, known }, loader, LOCAL_ACCOUNT),
  );
  return { ...factsOf(graph), code, packages };
}

/** Returns what is known of a bundle before it is made. */
const factsOf = (graph: ModuleGraph) => ({
  source: graph.entry.source.text,
  hash: graph.hash,
  modules: [...graph.modules.values()].filter(isOwnFile).map(module => module.id),
});

/** Returns a bundle, in either form, that executes a statement of one line before all code of its component. */
export function withStatement(bundle: string, statement: string): string {
  const banner = [BANNER, SCRIPT_BANNER].find(one => bundle.startsWith(one)) ?? "";
  return banner + statement + bundle.slice(banner.length);
}

function packageRequests(graph: ModuleGraph): PackageRequest[] {
  return [...graph.modules.values()].flatMap(({ source, imports }) =>
    [...imports].flatMap(([specifier, target]) =>
      target.kind === "package"
        ? [{ name: target.name, range: target.range, location: () => importLocation(source, specifier) }]
        : [],
    ),
  );
}

async function link(
  graph: ModuleGraph,
  packages: { installed: InstalledPackages; known: KnownPackages } | null,
  loader: ModuleLoader,
  account: string,
): Promise<string> {
  const invalid = (message: string, cause?: unknown) =>
    new AppError("invalid", `${loader.field.path}: ${message}`, {
      fields: [{ ...loader.field, message }],
      cause,
    });
  let rejection: AppError | undefined;
  let packageFiles = new PackageFiles();
  let hasComputedFiles = true;
  const pluginOf = (esbuild: Esbuild): Plugin =>
    bundlePlugin({
      hasComputedFiles,
      esbuild,
      graph,
      installed: packages?.installed ?? null,
      known: packages?.known ?? null,
      packageFiles,
      reject: message => {
        rejection ??= invalid(message);
        return rejection;
      },
    });
  const build = (settings: typeof SETTINGS | typeof SCRIPT_SETTINGS) =>
    withEsbuild(account, BUNDLE_MS, async esbuild => {
      const { outputFiles } = await esbuild.build({ ...settings, plugins: [pluginOf(esbuild)] });
      const first = packages ? await packageFiles.statement(packages.installed.folder) : "";
      return withSourceMap(outputFiles, settings.banner.js, first);
    });
  const buildEither = async () => {
    const asModule = await build(SETTINGS);
    if (!isLarge(asModule)) return asModule;
    const asScript = await build(SCRIPT_SETTINGS).catch(unlessTopLevelAwait);
    return withinBound(asScript && isLarge(asScript) ? asScript : asModule, invalid);
  };
  try {
    return await buildEither().catch(error => {
      if (!packageFiles.hasComputed || (error as AppError).code === "unavailable") throw error;
      // What a computed name may mean need not be fit for a bundle, such as a template or a test.
      [packageFiles, hasComputedFiles, rejection] = [new PackageFiles(), false, undefined];
      return buildEither();
    });
  } catch (error) {
    if (error instanceof AppError) throw error;
    if (rejection !== undefined) throw rejection;
    if (error instanceof EsbuildCrashError) throw invalid(error.message, error);
    const [first] = (error as { errors?: Message[] }).errors ?? [];
    throw first === undefined ? error : invalid(describeFailure(first, graph), error);
  }
}

function describeFailure(message: Message, graph: ModuleGraph): string {
  if (message.location?.file === `own:${ENTRY}`) {
    return `${graph.entry.id} has no default export and no module.exports`;
  }
  const file = message.location?.file.replace(/^(own|npm):/, "");
  const own = [...graph.modules.values()].find(({ id, format }) => nodeName(id, format) === file);
  if (file === undefined) return formatMessage(message);
  const text = message.text.replaceAll(/(?<=")(?:own|npm):/g, "");
  return own === undefined
    ? `${file}: ${text}`
    : `${own.id}: ${formatMessage({ ...message, text, location: inSource(message.location, own.text) })}`;
}

const isLarge = (bundle: string): boolean => isLargeBundle(Buffer.byteLength(bundle));

/** Only modules have top-level await; returns nothing for code that is one because of it. Throws any other error. */
function unlessTopLevelAwait(error: unknown): undefined {
  const { errors = [] } = error as { errors?: Message[] };
  if (errors.length === 0 || !errors.every(({ text }) => text.startsWith("Top-level await"))) throw error;
}

/** `first` is a statement on one line that is executed before the code of any module. */
function withSourceMap(files: { path: string; text: string }[], banner: string, first: string): string {
  const code = files.find(file => file.path.endsWith(".js"))?.text ?? "";
  const map = JSON.parse(files.find(file => file.path.endsWith(".map"))?.text ?? "{}");
  const sources = (map.sources as string[]).map(source => source && OWN_FILE + source);
  const inline = Buffer.from(JSON.stringify({ ...map, sources, file: undefined })).toString("base64");
  return `${banner}${first}${code.slice(banner.length)}//# sourceMappingURL=data:application/json;base64,${inline}\n`;
}

function withinBound(bundle: string, invalid: (message: string) => AppError): string {
  if (Buffer.byteLength(bundle) > MAX_BUNDLE_BYTES) {
    throw invalid(`the code and everything it imports exceed ${MAX_BUNDLE_BYTES / 1024 ** 2} MB`);
  }
  return bundle;
}
