import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { lastLine, run } from "./commands.mjs";
import { PACKAGES, packAll } from "./packages.mjs";
import { repositoryOf } from "./repository.mjs";
import { runScript, UserError } from "./user-error.mjs";

const HELP = `Usage: npm run release -- VERSION [--dry-run]

Makes a release of this checkout: moves CHANGELOG.md's "Unreleased" into a section of the version, sets the version wherever it
stands, builds the npm packages into dist/packages, commits, and tags. It pushes and publishes nothing: the last lines say what to do.

  VERSION    such as 0.2.0 or 1.0.0-rc.1, above the one before
  --dry-run  does all of it but the commit and the tag, and then puts the files back`;

const VERSION = /^(\d+)\.(\d+)\.(\d+)(?:-([0-9a-z-]+(?:\.[0-9a-z-]+)*))?$/;

/**
 * Makes a release of the clone in `root`. `version`: the new one. `dryRun`: leaves the clone as it was, but for dist/packages. `today`:
 * its date. Throws UserError for a clone, a version or a changelog that can't be released, before anything is changed.
 */
export async function release({ root, version, dryRun, today, say }) {
  const git = (...args) => must(root, "git", args);
  const before = readVersion(root);
  if (!isAbove(version, before)) throw new UserError(`${version} is not above ${before}, the version before`);
  if (await git("status", "--porcelain")) {
    throw new UserError(
      "there are changes that are not committed: commit them, or put them away (git stash)",
    );
  }
  const tag = `v${version}`;
  if (await git("tag", "--list", tag)) throw new UserError(`there is a tag ${tag} already`);
  if (!(await repositoryOf(root))) {
    throw new UserError(
      "packages name the repository they come from, and this clone has no remote `origin` with a public address: git remote add origin URL",
    );
  }
  const changelog = releasedChangelog(readFileSync(join(root, "CHANGELOG.md"), "utf8"), version, today);

  try {
    writeFileSync(join(root, "CHANGELOG.md"), changelog);
    setVersion(root, version);
    await must(root, "npm", ["run", "--silent", "openapi"]);
    await packAll({ root, outDir: join(root, "dist/packages"), say });
    if (dryRun) {
      say(await git("diff", "--stat"));
    } else {
      await git("commit", "--quiet", "--all", "--message", `chore(release): ${version}`);
      await git("tag", "--annotate", tag, "--message", `Headwater ${version}`);
    }
  } finally {
    // After a failure too: what was set is not a release.
    await git("checkout", "--quiet", "--", ".");
  }
  say(dryRun ? `${version} can be released; nothing was committed.` : nextSteps(version, tag));
}

const nextSteps = (version, tag) => `Committed ${version}, and tagged it ${tag}; nothing was pushed. Now:
  git show ${tag}          look at it; to take it back: git tag --delete ${tag} && git reset --hard HEAD~1
  git push origin HEAD    and wait until CI has passed
  git push origin ${tag}  .github/workflows/release.yml then publishes the packages and the image`;

/** Whether one version comes after another; its parts are compared as Semantic Versioning does. */
function isAbove(version, before) {
  const [after, earlier] = [version, before].map(text => VERSION.exec(text));
  if (!after) throw new UserError(`${version} is not a version such as 0.2.0 or 1.0.0-rc.1`);
  for (const part of [1, 2, 3]) {
    if (after[part] !== earlier[part]) return Number(after[part]) > Number(earlier[part]);
  }
  // A release comes after what led to it.
  if (!after[4] || !earlier[4]) return Boolean(earlier[4]) && !after[4];
  return after[4].localeCompare(earlier[4], "en", { numeric: true }) > 0;
}

/** Returns a changelog whose unreleased changes are those of `version`. Throws UserError if there are none. */
export function releasedChangelog(text, version, today) {
  const [, head, changes] = /^(.*?\n## \[Unreleased\]\n)(.*?)(?=\n## \[|$)/s.exec(text) ?? [];
  if (!changes?.trim())
    throw new UserError("CHANGELOG.md has nothing below [Unreleased]: what would be released?");
  return `${head}\n## [${version}] - ${today}\n${changes}${text.slice(head.length + changes.length)}`;
}

/** The version of the project in `root`: package.json is the place that all others are set from. */
const readVersion = root => readJson(join(root, "package.json")).version;

const OF_MANIFEST = /^( {2}"version": ")([^"]+)/m;

/** Where the version stands besides package.json: the file, and what finds it there. */
export const PLACES = [
  ...PACKAGES.filter(({ folder }) => folder !== ".").map(({ folder }) => ({
    file: `${folder}/package.json`,
    pattern: OF_MANIFEST,
  })),
  { file: "package-lock.json", pattern: OF_MANIFEST },
  { file: "package-lock.json", pattern: /^( {4}"": \{\n {6}"name": "headwater",\n {6}"version": ")([^"]+)/m },
  {
    file: "package-lock.json",
    pattern: /^( {4}"clients\/typescript": \{\n {6}"name": "@headwater\/client",\n {6}"version": ")([^"]+)/m,
  },
  { file: "deploy/kubernetes/components/pod/kustomization.yaml", pattern: /^( +newTag: )(\S+)/m },
];

/** Sets the version in package.json and wherever else it stands; openapi.json is generated. Throws UserError for a place that has none. */
function setVersion(root, version) {
  for (const { file, pattern } of [{ file: "package.json", pattern: OF_MANIFEST }, ...PLACES]) {
    const path = join(root, file);
    const text = readFileSync(path, "utf8");
    if (!pattern.test(text)) throw new UserError(`${file} has no version where one is expected`);
    const changed = text.replace(pattern, (_, before) => `${before}${version}`);
    writeFileSync(path, changed);
  }
}

const readJson = file => JSON.parse(readFileSync(file, "utf8"));

async function must(root, program, args) {
  const { code, output } = await run(program, args, { cwd: root });
  if (code !== 0) throw new UserError(`${program} ${args[0]} failed: ${lastLine(output)}`);
  return output.trim();
}

// `npm run release`
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await runScript(async () => {
    const args = process.argv.slice(2);
    if (args.includes("--help")) return console.log(HELP);
    const [version, ...others] = args.filter(arg => arg !== "--dry-run");
    if (version === undefined || others.length > 0)
      throw new UserError(`one version is needed: npm run release -- VERSION\n\n${HELP}`);
    const root = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");
    const today = new Date().toISOString().slice(0, 10);
    await release({ root, version, dryRun: args.includes("--dry-run"), today, say: console.log });
  });
}
