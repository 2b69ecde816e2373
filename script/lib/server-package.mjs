import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { buildIfStale } from "./build.mjs";

/** Packed besides what `files` of package.json has: what `headwater start` consists of. */
const START = "script/lib/serve.mjs";
/** Only a checkout has what this needs (script/lib/start.mjs). */
const OF_A_CHECKOUT = "./checkout.mjs";
/** Brings MongoDB's own build where no other is (script/lib/mongod.mjs); a development dependency, because an image has no use for it. */
const OF_THE_START = ["mongodb-memory-server-core"];
/** What is built into dist/ for others. */
const NOT_OF_THE_SERVER = ["dist/packages"];

/**
 * Builds the package `headwater`, which runs a whole server, into `target`: the built processes, dashboard, documentation and gallery,
 * the command line, and what starts all of them. It names exact versions of its dependencies, and not of theirs: with a file
 * npm-shrinkwrap.json, npm 11 installs what esbuild and Deno have for every platform, a gigabyte in place of 300 MB. Throws UserError.
 */
export async function buildServerPackage(root, target) {
  await buildIfStale({ root, say: () => {} });
  const own = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  for (const name of [...own.files, ...(await filesOfStart(root))]) {
    if (existsSync(join(root, name))) copy(root, target, name);
  }
  writeFileSync(join(target, "package.json"), `${JSON.stringify(manifestOf(own), null, 2)}\n`);
}

function copy(root, target, name) {
  mkdirSync(dirname(join(target, name)), { recursive: true });
  const left = NOT_OF_THE_SERVER.map(folder => join(root, folder));
  cpSync(join(root, name), join(target, name), { recursive: true, filter: path => !left.includes(path) });
}

/** Returns the manifest of the package: without what only a checkout uses. npm goes by `overrides` of a checkout alone. */
export function manifestOf({
  private: _,
  scripts,
  workspaces,
  devDependencies,
  overrides,
  files,
  ...manifest
}) {
  const ofTheStart = OF_THE_START.map(name => [name, devDependencies[name]]);
  return {
    ...manifest,
    dependencies: { ...manifest.dependencies, ...Object.fromEntries(ofTheStart) },
    files: [...files, "script/"],
  };
}

/** Returns the paths of the scripts that START imports, by esbuild's account of them. */
export async function filesOfStart(root) {
  const { build } = createRequire(join(root, "package.json"))("esbuild");
  const { metafile } = await build({
    entryPoints: [join(root, START)],
    absWorkingDir: root,
    bundle: true,
    write: false,
    metafile: true,
    format: "esm",
    platform: "node",
    packages: "external",
    external: [OF_A_CHECKOUT],
  });
  return Object.keys(metafile.inputs);
}
