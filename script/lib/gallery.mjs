import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { basename, join, relative, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { UserError } from "./user-error.mjs";

/** Kinds of components, by the folder of an app that has them. */
const KINDS = { sources: "source", actions: "action" };

/**
 * Bundles the gallery of `root` with the program that was compiled into `outDir`, so that a start needs neither npm nor network nor
 * sandbox: into `outDir`/gallery, where src/gallery/shipped.ts reads it. Does nothing without a gallery/. Throws UserError for
 * what can't be bundled or is incomplete.
 */
export async function buildGallery(root, outDir) {
  const folder = join(root, "gallery");
  if (!existsSync(folder)) return;
  const tools = await toolsOf(root, outDir);
  const apps = [];
  const components = [];
  for (const key of readJson(join(folder, "apps.json"))) {
    apps.push({ key, ...readJson(join(folder, key, "app.json")) });
    const changelogs = changelogsOf(readFileSync(join(folder, key, "CHANGELOG.md"), "utf8"));
    for (const entry of entriesOf(folder, key)) {
      components.push(await component(root, outDir, tools, { app: key, entry, changelogs }));
    }
  }
  writeFileSync(join(outDir, "gallery", "gallery.json"), JSON.stringify({ apps, components }));
}

async function component(root, outDir, tools, { app, entry, changelogs }) {
  const loader = tools.fromFiles({ files: filesFor(root, app), entry });
  const bundle = await tools.bundleInstalled(loader, realpathSync(root)).catch(error => {
    throw new UserError(`gallery/${entry} can't be bundled: ${error.message}`);
  });
  const key = `headwater-${basename(entry, ".mjs")}`;
  const target = join(outDir, "gallery", key);
  mkdirSync(target, { recursive: true });
  const built = await tools.writeBuilt(bundle, target);
  const code = tools.componentOf(await import(pathToFileURL(join(target, "component.mjs")).href));
  const description = tools.describeComponent(code);
  const changelog = changelogs.get(key) ?? [];
  checkComponent({ entry, key, description, changelog });
  const sample = typeof code.sampleEmit === "object" ? code.sampleEmit : null;
  return { app, key, code: bundle.source, files: loader.files(), description, sample, changelog, built };
}

/** Throws UserError for a component that people could not choose by its card. */
function checkComponent({ entry, key, description, changelog }) {
  const kind = KINDS[entry.split("/").at(-2)];
  const wrong = Object.entries({
    [`its key is not ${key}, as its file is called`]: description.key !== key,
    [`its type is not ${kind}`]: description.type !== kind,
    "it has no description of one sentence": !/^[A-Z].{10,160}\.$/.test(description.description ?? ""),
    [`the first version in CHANGELOG.md is not ${description.version}`]:
      changelog[0]?.version !== description.version,
  }).find(([, isWrong]) => isWrong);
  if (wrong) throw new UserError(`gallery/${entry}: ${wrong[0]}`);
}

/** Paths of the components of an app, from gallery/. */
const entriesOf = (folder, app) =>
  Object.keys(KINDS)
    .filter(kind => existsSync(join(folder, app, kind)))
    .flatMap(kind =>
      readdirSync(join(folder, app, kind))
        .filter(name => name.endsWith(".mjs"))
        .sort()
        .map(name => `${app}/${kind}/${name}`),
    );

/** What a component may import: files of its app, files for all of them, and packages in the versions that are installed here. */
function filesFor(root, app) {
  const { devDependencies } = readJson(join(root, "package.json"));
  const folder = join(root, "gallery");
  const paths = [app, "lib"].flatMap(name =>
    readdirSync(join(folder, name), { recursive: true, withFileTypes: true })
      .filter(found => found.isFile() && found.name.endsWith(".mjs"))
      .map(found => join(found.parentPath, found.name)),
  );
  const texts = paths.map(path => [relative(folder, path).split(sep).join("/"), readFileSync(path, "utf8")]);
  const imported = Object.entries(devDependencies).filter(([name]) =>
    texts.some(([, text]) => text.includes(`from "${name}"`)),
  );
  const manifest = { dependencies: Object.fromEntries(imported) };
  return { ...Object.fromEntries(texts), "package.json": JSON.stringify(manifest) };
}

/** Returns the versions of each component by its key, the latest first: `## KEY VERSION, DATE` with a list. */
function changelogsOf(text) {
  const byKey = new Map();
  for (const section of text.split(/^## /m).slice(1)) {
    const [, key, version, date, list] = /^(\S+) (\S+), (\S+)\n(.*)$/s.exec(section) ?? [];
    const items = (list ?? "").split(/^- /m).map(item => item.replace(/\s+/g, " ").trim());
    byKey.set(key, [...(byKey.get(key) ?? []), { version, date, changes: items.filter(Boolean) }]);
  }
  return byKey;
}

/** The parts of the program with which users' components are bundled and described. */
async function toolsOf(root, outDir) {
  const compiled = path => import(pathToFileURL(join(outDir, "src", path)).href);
  const [{ bundleInstalled }, { fromFiles }, { writeBuilt }] = await Promise.all([
    compiled("components/bundle.js"),
    compiled("components/given-files.js"),
    compiled("components/builder/write-built.js"),
  ]);
  // The sandbox has these as sources.
  const { build } = createRequire(join(root, "package.json"))("esbuild");
  const outfile = join(outDir, "describe.mjs");
  const exported = ["describe", "component"].map(name => `export * from "./src/sandbox/child/${name}.ts";`);
  await build({
    stdin: { contents: exported.join(""), resolveDir: root, loader: "ts" },
    ...{ outfile, bundle: true, format: "esm", platform: "node", logLevel: "warning" },
  });
  const { componentOf, describeComponent } = await import(pathToFileURL(outfile).href);
  rmSync(outfile);
  return { bundleInstalled, fromFiles, writeBuilt, componentOf, describeComponent };
}

const readJson = path => JSON.parse(readFileSync(path, "utf8"));
