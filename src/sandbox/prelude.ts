import { existsSync } from "node:fs";
import { chmod, copyFile, writeFile } from "node:fs/promises";
import { builtinModules, createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { newEsbuild } from "../lib/new-esbuild.ts";

const require = createRequire(import.meta.url);

export interface Prelude {
  /** The file that deno runs. */
  main: string;
  importMap: string;
  /** Modules that the import map names. */
  shims: string[];
}

/** What the build has bundled (`script/lib/build.mjs`); the sources have none. */
const BUILT = fileURLToPath(new URL("../../prelude.js", import.meta.url));

/** Writes the one file that deno runs, and what it imports. Without a build it is bundled first, which takes 0.1 s. */
export async function writePrelude(folder: string): Promise<Prelude> {
  const main = join(folder, "prelude.js");
  if (existsSync(BUILT)) await copyFile(BUILT, main);
  else await bundlePrelude(main);
  await chmod(main, READABLE);
  return { main, ...(await writeImportMap(folder)) };
}

/** Bundles `child/` and undici into one file. */
export async function bundlePrelude(outfile: string): Promise<void> {
  const esbuild = newEsbuild();
  try {
    await esbuild.build({
      entryPoints: [fileURLToPath(new URL("./child/main.ts", import.meta.url))],
      outfile,
      bundle: true,
      format: "esm",
      platform: "node",
      target: "es2023",
      minify: true,
      keepNames: true,
      logLevel: "silent",
      banner: {
        js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
      },
    });
  } finally {
    // Its process would stay beside this one, with 40 MB, for a build that comes once.
    await esbuild.stop();
  }
}

/** The sandboxes run as other users; the umask must not keep them from reading these files. */
const READABLE = 0o644;

/** Built-in modules whose functions the child replaces; see `child/redirect-tmp.ts` and `child/lock-down.ts`. */
const PATCHED = ["node:fs", "node:fs/promises", "node:os", "node:process"];

/**
 * deno fixes the named exports of a built-in module before the child can replace them, so that
 * `import { hostname } from "node:os"` would still return the original. The import map redirects such imports to a
 * module that reads the replaced functions. The child must not import them, which would be before that.
 */
async function writeImportMap(folder: string): Promise<Pick<Prelude, "importMap" | "shims">> {
  const imports: Record<string, string> = {};
  const shims: string[] = [];
  for (const name of PATCHED) {
    const exported = Object.keys(require(name) as object).filter(key => /^[A-Za-z_$][\w$]*$/.test(key));
    const file = join(folder, `${name.replace(/\W/g, "-")}.js`);
    const names = exported.filter(key => key !== "default").join(", ");
    await writeFile(
      file,
      `const builtin = process.getBuiltinModule("${name}");\nexport default builtin;\nexport const { ${names} } = builtin;\n`,
    );
    await chmod(file, READABLE);
    shims.push(file);
    imports[name] = `file://${file}`;
    if (builtinModules.includes(name.slice(5))) imports[name.slice(5)] = `file://${file}`;
  }
  const path = join(folder, "import-map.json");
  await writeFile(path, JSON.stringify({ imports }));
  await chmod(path, READABLE);
  return { importMap: path, shims };
}
