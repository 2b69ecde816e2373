import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { run } from "./commands.mjs";
import { buildDashboard } from "./dashboard.mjs";
import { buildGallery } from "./gallery.mjs";
import { runScript, UserError } from "./user-error.mjs";

const COMPILED = ["src", "workers"];
/** The command line uses it. */
const CLIENT = "clients/typescript/src";
const SOURCES = [...COMPILED, CLIENT, "dashboard", "gallery"];
const SETTINGS = [
  "tsconfig.json",
  "tsconfig.build.json",
  "package-lock.json",
  "script/lib/build.mjs",
  "script/lib/dashboard.mjs",
  "script/lib/gallery.mjs",
  "script/lib/browser-bundle.mjs",
  "script/lib/compress.mjs",
];
/** Copied as sources: the sandbox's prelude is bundled from them, and from what they import. */
const VERBATIM = [
  join("src", "sandbox") + sep,
  ...["emit-limits.ts", "limit.ts", "verify-limits.ts"].map(name => join("src", "limits", name)),
  join("src", "lib", "scan-json.ts"),
];

/** What the documentation site at /docs is made of, and the files that its pages show. */
const SITE_SOURCES = ["docs", "site", "examples", "deploy", "script/lib/site"];
const SITE_SETTINGS = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "script/lib/site.mjs"];

/** Builds into dist/ unless dist/ was built from the same sources. Throws UserError for code that can't be parsed. */
export async function buildIfStale({ root, say, signal }) {
  if (!isBuilt(root)) {
    say("Building ...");
    await buildProgram({ root, signal });
  }
  if (!isSiteBuilt(root)) await buildDocumentation(root);
}

async function buildProgram({ root, signal }) {
  // Compiled into another folder and swapped in at the end: an interrupted build leaves the old dist/, and running
  // processes find their files at every moment.
  const fresh = join(root, `.cache/build-${process.pid}`);
  try {
    await compile(root, fresh, signal);
    copyAssets(root, fresh);
    await bundlePackages(root, fresh);
    await bundlePrelude(fresh);
    await buildDashboard(root, join(fresh, "dashboard"));
    await buildGallery(root, fresh);
    writeFileSync(join(fresh, ".sources"), programFingerprintOf(root));
    replaceFolder(join(root, "dist"), fresh);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

/** A build of its own, because a word of a document changes nothing of the program. */
async function buildDocumentation(root) {
  if (!existsSync(join(root, "docs/site.yaml"))) return;
  const fresh = join(root, `.cache/docs-${process.pid}`);
  try {
    const { buildSite } = await import("./site.mjs");
    await buildSite(root, join(root, "dist"), fresh);
    writeFileSync(join(fresh, ".sources"), siteFingerprintOf(root));
    replaceFolder(join(root, "dist/docs"), fresh);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

/** Whether dist/ was built from the sources as they are now; the documentation is not asked for. */
export const isBuilt = root => isStamped(join(root, "dist"), programFingerprintOf(root));

const isSiteBuilt = root => isStamped(join(root, "dist/docs"), siteFingerprintOf(root));

function isStamped(folder, fingerprint) {
  const stamp = join(folder, ".sources");
  return existsSync(stamp) && readFileSync(stamp, "utf8") === fingerprint;
}

async function compile(root, outDir, signal) {
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  if (!existsSync(tsc)) {
    throw new UserError(
      "the build needs the development dependencies, and typescript is not installed: run npm ci --include=dev",
    );
  }
  // Types are checked by `npm run typecheck`, which takes ten times as long.
  const args = [tsc, "-p", "tsconfig.build.json", "--outDir", outDir, "--noEmitOnError", "--noCheck"];
  const { code, output } = await run(process.execPath, args, { cwd: root, signal });
  if (code === 0) return;
  process.stdout.write(output);
  throw new UserError("the build failed: tsc reports the errors above");
}

function copyAssets(root, outDir) {
  for (const file of sourceFiles(root, COMPILED)) {
    if (file.endsWith(".ts") && !VERBATIM.some(start => file.startsWith(start))) continue;
    mkdirSync(dirname(join(outDir, file)), { recursive: true });
    cpSync(join(root, file), join(outDir, file));
  }
}

/** Packages that come as hundreds of ES modules: as one file, typebox loads in a tenth of the time. */
const BUNDLED = ["typebox"];

/** Puts bundles into node_modules/ of `outDir`, where Node finds them before those of the project. */
async function bundlePackages(root, outDir) {
  const { build } = createRequire(join(root, "package.json"))("esbuild");
  for (const name of BUNDLED) {
    const folder = join(outDir, "node_modules", name);
    await build({
      stdin: { contents: `export * from "${name}"; export { default } from "${name}";`, resolveDir: root },
      outfile: join(folder, "index.js"),
      bundle: true,
      format: "esm",
      platform: "node",
      keepNames: true,
      logLevel: "warning",
    });
    writeFileSync(
      join(folder, "package.json"),
      JSON.stringify({ name, type: "module", exports: "./index.js" }),
    );
  }
}

/** Bundles the sandbox's prelude, so that no start of a process does. */
async function bundlePrelude(outDir) {
  const built = await import(join(outDir, "src/sandbox/prelude.js"));
  await built.bundlePrelude(join(outDir, "prelude.js"));
}

function replaceFolder(folder, fresh) {
  const old = `${fresh}-old`;
  if (existsSync(folder)) renameSync(folder, old);
  renameSync(fresh, folder);
  rmSync(old, { recursive: true, force: true });
}

function sourceFiles(root, folders) {
  return folders
    .filter(name => existsSync(join(root, name)))
    .flatMap(name =>
      readdirSync(join(root, name), { recursive: true, withFileTypes: true })
        .filter(entry => entry.isFile())
        .map(entry => relative(root, join(entry.parentPath, entry.name)))
        .sort(),
    );
}

const programFingerprintOf = root =>
  fingerprintOf(root, [
    ...SETTINGS,
    // Types change nothing that is built, and some are written later (script/lib/api-types.mjs).
    ...sourceFiles(root, SOURCES).filter(
      name => !name.endsWith(".d.ts") && name !== join(CLIENT, "schema.ts"),
    ),
  ]);

const siteFingerprintOf = root => fingerprintOf(root, [...SITE_SETTINGS, ...sourceFiles(root, SITE_SOURCES)]);

function fingerprintOf(root, files) {
  const hash = createHash("sha256");
  for (const file of files.filter(name => existsSync(join(root, name)))) {
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(root, file)))
      .update("\0");
  }
  return hash.digest("hex");
}

// `npm run build`
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL("../..", import.meta.url));
  await runScript(() => buildIfStale({ root, say: console.log }));
}
