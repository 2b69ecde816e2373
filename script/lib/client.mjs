import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { writeApiTypes } from "./api-types.mjs";
import { run } from "./commands.mjs";
import { runScript, UserError } from "./user-error.mjs";

const FOLDER = "clients/typescript";

/**
 * Builds what is published of @headwater/client into `outDir`: ES modules, and CommonJS in `cjs/` for projects that
 * compile to it. Throws UserError for code that does not compile.
 */
export async function buildClient(root, outDir) {
  writeApiTypes(root);
  rmSync(outDir, { recursive: true, force: true });
  await compile(root, "tsconfig.build.json", outDir);
  await compile(root, "tsconfig.cjs.json", join(outDir, "cjs"));
  writeFileSync(join(outDir, "cjs/package.json"), '{ "type": "commonjs" }\n');
  for (const file of readdirSync(outDir, { recursive: true })) {
    if (file.endsWith(".d.ts")) renameImports(join(outDir, file));
  }
}

async function compile(root, project, outDir) {
  await runOrThrow(root, process.execPath, [
    join(root, "node_modules/typescript/bin/tsc"),
    ...["-p", join(root, FOLDER, project), "--outDir", outDir],
  ]);
}

/** The compiler rewrites imports of `.ts` in JavaScript, and leaves those of declarations. */
function renameImports(file) {
  const text = readFileSync(file, "utf8");
  writeFileSync(file, text.replaceAll(/((?:from|import\() ?"\.{1,2}\/[^"]+)\.ts"/g, '$1.js"'));
}

/** What publint and arethetypeswrong find in the package as npm packs it, one line each. */
async function packageProblems(root) {
  const { publint } = await import("publint");
  const { formatMessage } = await import("publint/utils");
  const { checkPackage, createPackageFromTarballData } = await import("@arethetypeswrong/core");
  const pkgDir = join(root, FOLDER);
  const folder = mkdtempSync(join(tmpdir(), "headwater-client-"));
  try {
    await runOrThrow(pkgDir, "npm", ["pack", "--ignore-scripts", "--pack-destination", folder]);
    const tarball = readFileSync(join(folder, readdirSync(folder)[0]));
    const { messages, pkg } = await publint({ strict: true, pack: { tarball: bufferOf(tarball) } });
    const { problems = [] } = await checkPackage(createPackageFromTarballData(tarball));
    return [
      ...messages.map(message => `publint: ${formatMessage(message, pkg)}`),
      ...problems.map(problem => `arethetypeswrong: ${JSON.stringify(problem)}`),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const bufferOf = bytes => bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);

async function runOrThrow(cwd, program, args) {
  const { code, output } = await run(program, args, { cwd });
  if (code !== 0) throw new UserError(`the client can't be built:\n${output}`);
}

// `npm run client`
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL("../..", import.meta.url));
  await runScript(async () => {
    await buildClient(root, join(root, FOLDER, "dist"));
    const problems = await packageProblems(root);
    if (problems.length > 0)
      throw new UserError(`@headwater/client can't be published:\n${problems.join("\n")}`);
  });
}
