import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire, isBuiltin } from "node:module";
import { join, relative, sep } from "node:path";
import { UserError } from "./user-error.mjs";

/**
 * The modules that the command line imports only for what needs the stores, their settings or a sandbox: `dev`, the tests of
 * components, and the commands for operators. All others know a server by its API alone.
 */
const OF_THE_SERVER = [
  "src/accounts/",
  "src/audit/record.ts",
  "src/cli/authoring/testing/test-component.ts",
  "src/cli/dev/dev.ts",
  "src/cli/doctor/examine.ts",
  "src/cli/emit-event.ts",
  "src/cli/migrate/migrate-database.ts",
  "src/cli/pack-index.ts",
  "src/cli/secrets/reseal.ts",
  "src/components/components.ts",
  "src/components/save.ts",
  "src/config.ts",
  "src/connections/apps/apps.ts",
  "src/gallery/indexes.ts",
  "src/lib/logger.ts",
  "src/platform.ts",
  "src/store/",
];

const MESSAGE =
  "this command needs parts of the server, which @headwater/cli leaves out: run bin/headwater of a checkout or of the image";

/**
 * Bundles the command line of `root` into `outDir`: its `main.js`, which needs no package but esbuild where it reads the files of a
 * component, and `require-node.js` to import before it. Returns the packages that are part of it, as paths of their folders. Throws UserError for code that
 * can't be bundled, or that imports the server.
 */
export async function bundleCommandLine(root, outDir) {
  const { build } = createRequire(join(root, "package.json"))("esbuild");
  const { metafile } = await build({
    entryPoints: {
      main: join(root, "src/cli/main.ts"),
      "require-node": join(root, "src/lib/require-node.ts"),
    },
    outdir: outDir,
    absWorkingDir: root,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20",
    minify: true,
    // An error is known by the name of its class.
    keepNames: true,
    legalComments: "none",
    // For packages that are CommonJS.
    banner: {
      js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
    },
    packages: "bundle",
    external: ["bullmq", "ioredis", "mongodb", "mongoose", "esbuild", "deno"],
    metafile: true,
    plugins: [withoutServer(root)],
    logLevel: "silent",
  }).catch(error => {
    throw new UserError(`the command line can't be bundled: ${error.message}`);
  });
  checkImports(metafile);
  return packagesOf(root, metafile);
}

/** Puts one module that throws in the place of each that only the server has. */
const withoutServer = root => ({
  name: "without-server",
  setup({ onResolve, onLoad, resolve }) {
    onResolve({ filter: /^\.{1,2}\// }, async ({ kind, path, resolveDir, importer, pluginData }) => {
      if (kind !== "dynamic-import" || pluginData === "resolved") return undefined;
      const found = await resolve(path, { kind, resolveDir, importer, pluginData: "resolved" });
      const name = relative(root, found.path).split(sep).join("/");
      if (!OF_THE_SERVER.some(start => name.startsWith(start))) return undefined;
      return { path: "server", namespace: "without-server" };
    });
    onLoad({ filter: /.*/, namespace: "without-server" }, () => ({
      contents: `throw new Error(${JSON.stringify(MESSAGE)});`,
    }));
  },
});

/** Throws UserError if something imports a package that is not part of the bundle. */
function checkImports({ inputs }) {
  for (const [file, { imports }] of Object.entries(inputs)) {
    const missing = imports.find(({ external, path }) => external && !isOfNode(path));
    if (missing) throw new UserError(`@headwater/cli would need ${missing.path}, which ${file} imports`);
  }
}

/** `<runtime>` is what esbuild adds itself; an older Node does not know every module of its own. */
const isOfNode = path => /^(node:|<)/.test(path) || isBuiltin(path);

const PACKAGE = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//;

const packagesOf = (root, { outputs }) =>
  [
    ...new Set(
      Object.values(outputs).flatMap(({ inputs }) =>
        Object.keys(inputs).flatMap(path => PACKAGE.exec(path)?.[1] ?? []),
      ),
    ),
  ]
    .sort()
    .map(folder => join(root, folder));

/** Writes the licences of these packages into one file, as they ask of those who pass them on. Throws UserError for one without. */
export function writeLicences(folders, file) {
  const texts = folders.map(folder => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const found = readdirSync(folder).find(entry => /^licen[cs]e(\.|$)/i.test(entry));
    if (!license)
      throw new UserError(`${name} ${version} names no licence, so it can't be part of @headwater/cli`);
    const text = found === undefined ? "" : `\n${readFileSync(join(folder, found), "utf8").trim()}\n`;
    return `${name} ${version} (${license})\n${text}`;
  });
  writeFileSync(file, texts.join(`\n${"-".repeat(80)}\n\n`));
}
