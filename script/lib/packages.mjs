import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundleCommandLine, writeLicences } from "./cli-bundle.mjs";
import { buildClient } from "./client.mjs";
import { lastLine, run } from "./commands.mjs";
import { repositoryOf } from "./repository.mjs";
import { buildServerPackage } from "./server-package.mjs";
import { runScript, UserError } from "./user-error.mjs";

const HELP = `Usage: npm run packages

Builds the npm packages of this checkout into dist/packages, as a release publishes them. Publishes nothing.`;

/** The folders of the packages, with what has to be built into each. */
export const PACKAGES = [
  // First: its build makes dist/ again, where tarballs may be.
  { folder: ".", build: buildServerPackage },
  { folder: "clients/typescript", build: (root, target) => buildClient(root, join(target, "dist")) },
  { folder: "clients/component", build: () => {} },
  { folder: "clients/cli", build: buildCommandLine },
];

async function buildCommandLine(root, target) {
  const folders = await bundleCommandLine(root, join(target, "dist"));
  writeLicences(folders, join(target, "THIRD-PARTY-LICENSES"));
}

/** What is packed of a package's folder besides what is built: its own files, which git has. */
const OWN_FILES = ["package.json", "README.md", "LICENSE", "bin", "index.js", "index.d.ts"];

/**
 * Builds and packs every package, or only `packages`, into `outDir`, each with the repository it comes from. Returns the paths of the tarballs. Throws
 * UserError.
 */
export async function packAll({ root, outDir, say, packages = PACKAGES }) {
  const repository = await repositoryOf(root);
  rmSync(outDir, { recursive: true, force: true });
  const tarballs = [];
  for (const { folder, build } of packages) {
    const target = join(root, `.cache/package-${process.pid}`);
    try {
      copyOwnFiles(join(root, folder), target);
      await build(root, target);
      const { name, version } = addRepository(join(target, "package.json"), repository, folder);
      tarballs.push(await pack(target, outDir));
      say(`${name} ${version}: ${tarballs.at(-1)}`);
    } finally {
      rmSync(target, { recursive: true, force: true });
    }
  }
  return tarballs;
}

function copyOwnFiles(folder, target) {
  mkdirSync(target, { recursive: true });
  for (const name of OWN_FILES.filter(one => existsSync(join(folder, one)))) {
    cpSync(join(folder, name), join(target, name), { recursive: true });
  }
}

/** npm shows a package's links relative to this, and compares it with where a workflow ran (provenance). */
function addRepository(file, repository, directory) {
  const manifest = JSON.parse(readFileSync(file, "utf8"));
  if (repository)
    manifest.repository = { type: "git", url: repository, ...(directory !== "." && { directory }) };
  writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`);
  return manifest;
}

async function pack(folder, outDir) {
  mkdirSync(outDir, { recursive: true });
  const args = ["pack", "--ignore-scripts", "--loglevel=error", "--pack-destination", outDir];
  const { code, output } = await run("npm", args, { cwd: folder });
  if (code !== 0) throw new UserError(`npm can't pack ${folder}:\n${output}`);
  return join(outDir, lastLine(output));
}

// `npm run packages`
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await runScript(async () => {
    if (process.argv.includes("--help")) return console.log(HELP);
    const root = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");
    await packAll({ root, outDir: join(root, "dist/packages"), say: console.log });
  });
}
