import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { type NpmRegistry, type Published, startNpmRegistry } from "./npm-registry.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const STAND_INS = join(ROOT, "test/fixtures/packages");
/** Development dependencies whose real behaviour tests are about; they come with what they depend on. */
const INSTALLED = ["axios", "rss-parser"];

/** What components with npm packages are bundled with in tests. */
export interface FixturePackages {
  npmEnvironment: NodeJS.ProcessEnv;
  /** Kept between runs until a package changes, so that npm runs only once for each set of packages. */
  cacheDir: string;
}

let opened: Promise<FixturePackages> | undefined;

/**
 * The packages that fixtures and examples import, in a registry of this process: the stand-ins in
 * test/fixtures/packages, and packages from node_modules. See docs/decisions/0051-time-of-the-tests.md.
 */
export function fixturePackages(): Promise<FixturePackages> {
  opened ??= open();
  return opened;
}

async function open(): Promise<FixturePackages> {
  const published = allPackages();
  const digest = createHash("sha256");
  for (const { manifest, files } of published) {
    digest.update(JSON.stringify(manifest));
    for (const content of Object.values(files)) digest.update(content);
  }
  const registry: NpmRegistry = await startNpmRegistry(published);
  const name = `headwater-packages-${process.getuid?.()}-${digest.digest("hex").slice(0, 16)}`;
  return { npmEnvironment: registry.environment, cacheDir: join(tmpdir(), name) };
}

function allPackages(): Published[] {
  const standIns = readdirSync(STAND_INS).map(name => packageIn(join(STAND_INS, name)));
  const found = new Map(standIns.map(one => [keyOf(one), one]));
  for (const name of INSTALLED) addInstalled(name, ROOT, found);
  return [...found.values()];
}

const keyOf = ({ manifest }: Published) => `${manifest.name}@${manifest.version}`;

/** Adds a package of node_modules and what it depends on. */
function addInstalled(name: string, from: string, found: Map<string, Published>): void {
  const folder = resolvePackage(name, from);
  const one = packageIn(folder);
  if (found.has(keyOf(one))) return;
  found.set(keyOf(one), one);
  for (const dependency of Object.keys(one.manifest.dependencies ?? {}))
    addInstalled(dependency, folder, found);
}

function resolvePackage(name: string, from: string): string {
  const folder = join(from, "node_modules", name);
  if (existsSync(join(folder, "package.json"))) return folder;
  if (dirname(from) === from) throw new Error(`${name} is not installed`);
  return resolvePackage(name, dirname(from));
}

function packageIn(folder: string): Published {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(entry =>
    entry.isFile(),
  );
  const paths = entries.map(entry => relative(folder, join(entry.parentPath, entry.name)));
  const files = paths
    .filter(path => !path.startsWith("node_modules/"))
    .sort()
    .map(path => [path, readFileSync(join(folder, path))] as const);
  const { "package.json": text = Buffer.from("{}"), ...others } = Object.fromEntries(files);
  return { manifest: JSON.parse(text.toString()), files: others };
}
