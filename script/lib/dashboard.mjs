import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { bundleForBrowsers } from "./browser-bundle.mjs";
import { compress } from "./compress.mjs";

/** Style sheets of code that is loaded later come with it, as texts: the page itself names only the shell's. */
const laterStyles = {
  name: "later-styles",
  setup({ onLoad, esbuild }) {
    onLoad({ filter: /\/styles\/later\/[^/]+\.css$/ }, async ({ path }) => {
      const options = { entryPoints: [path], bundle: true, minify: true, write: false };
      const { outputFiles } = await esbuild.build(options);
      return { contents: outputFiles[0].text, loader: "text" };
    });
  },
};

/**
 * Bundles the dashboard of `root` into `outDir`: `index.html`, and below `assets/` files whose names have the hash of
 * their content, each also as `.br` and `.gz`. Does nothing without a dashboard/. Throws UserError for code that can't be
 * parsed.
 */
export async function buildDashboard(root, outDir) {
  const folder = join(root, "dashboard");
  if (!existsSync(folder)) return;
  const assets = join(outDir, "assets");
  mkdirSync(assets, { recursive: true });
  const metafile = await bundleForBrowsers(root, "the dashboard", {
    entryPoints: { app: join(folder, "main.tsx") },
    outdir: assets,
    jsx: "automatic",
    jsxImportSource: "preact",
    plugins: [laterStyles],
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
