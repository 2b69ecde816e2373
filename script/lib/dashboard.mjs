import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join } from "node:path";
import { compress } from "./compress.mjs";
import { UserError } from "./user-error.mjs";

/** Style sheets of code that is loaded later come with it, as texts: the page itself names only the shell's. */
const laterStyles = build => ({
  name: "later-styles",
  setup({ onLoad }) {
    onLoad({ filter: /\/styles\/later\/[^/]+\.css$/ }, async ({ path }) => {
      const { outputFiles } = await build({ entryPoints: [path], bundle: true, minify: true, write: false });
      return { contents: outputFiles[0].text, loader: "text" };
    });
  },
});

/**
 * Bundles the dashboard of `root` into `outDir`: `index.html`, and below `assets/` files whose names have the hash of
 * their content, each also as `.br` and `.gz`. Does nothing without a dashboard/. Throws UserError for code that can't be
 * parsed.
 */
export async function buildDashboard(root, outDir) {
  const folder = join(root, "dashboard");
  if (!existsSync(folder)) return;
  const { build } = createRequire(join(root, "package.json"))("esbuild");
  const assets = join(outDir, "assets");
  mkdirSync(assets, { recursive: true });
  const { metafile } = await build({
    entryPoints: { app: join(folder, "main.tsx") },
    outdir: assets,
    absWorkingDir: root,
    bundle: true,
    splitting: true,
    format: "esm",
    target: "es2022",
    minify: true,
    legalComments: "none",
    jsx: "automatic",
    jsxImportSource: "preact",
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    metafile: true,
    plugins: [laterStyles(build)],
    logLevel: "warning",
  }).catch(error => {
    throw new UserError(`the build of the dashboard failed: ${error.message}`);
  });
  const entry = Object.entries(metafile.outputs).find(([, { entryPoint }]) =>
    entryPoint?.endsWith("main.tsx"),
  );
  const [script, { cssBundle, imports }] = entry;
  const preloads = imports
    .filter(({ kind }) => kind === "import-statement")
    .map(({ path }) => basename(path));
  const page = readFileSync(join(folder, "index.html"), "utf8")
    .replace("{style}", basename(cssBundle))
    .replace("{script}", basename(script))
    .replace(
      "{preloads}",
      preloads.map(name => `<link rel="modulepreload" href="/dashboard/assets/${name}">`).join(""),
    );
  writeFileSync(join(outDir, "index.html"), page);
  for (const name of readdirSync(assets)) compress(join(assets, name));
}
