import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { UserError } from "./user-error.mjs";

const IMPORT = /(?:from|import\()\s*["'](\.[^"']+)["']/g;

/** What a unit test does without, itself and in what it imports from test/: stores, sandboxes, other processes. */
const STARTS_SOMETHING = [
  /TEST_(?:MONGODB|REDIS)_URL/,
  /["']node:child_process["']/,
  /["'][./]+\/src\/sandbox\/host\.ts["']/,
  /["'][./]+\/script\/lib\/store-server\.mjs["']/,
];

/** A test file with a line `// runs-alone: <reason>` has the machine for itself, after all the others. */
const RUNS_ALONE = /^\/\/ runs-alone: \S/m;
/** One with a line `// runs-long: <what of it is in npm test>` runs when it is named, and with all others of its kind. */
const RUNS_LONG = /^\/\/ runs-long: \S/m;
/** What the title of a test ends with that is too long for `npm test`, while others of its file are not. */
export const LONG_TEST = "@long";

/** The files that take longest, for a machine that remembers no durations yet: those of `--long`, and those of `npm test`. */
export const SLOWEST = [
  "test/faults/faults.test.ts",
  "test/soak/soak.test.ts",
  "test/flows/store-outage.test.ts",
  "test/cli/main.test.ts",
  "test/cli/migrate.test.ts",
  "test/cli/apply/destinations.test.ts",
  "test/workers/wrong-set-up.test.ts",
  "test/components/npm-packages.test.ts",
  "test/components/trial.test.ts",
  "test/components/additional-props.test.ts",
  "test/components/keys.test.ts",
  "test/contract/rest-api-input.test.ts",
  "test/flows/actions.test.ts",
  "test/sandbox/confinement.test.ts",
  "test/sandbox/limits.test.ts",
  "test/components/describe.test.ts",
  "test/sources/versions.test.ts",
  "test/runs/handle-job.test.ts",
  "test/flows/hooks.test.ts",
  "test/contract/authorization.test.ts",
  "test/components/large-bundle.test.ts",
  "test/sandbox/call.test.ts",
  "test/queues/fair-order.test.ts",
  "test/limits/walk.test.ts",
  "test/sandbox/describe.test.ts",
  "test/contract/openapi.test.ts",
  "test/compatibility/events.test.ts",
];

/** Every test file below test/, as paths from the root. */
export function testFiles(root) {
  return filesBelow(root, "test");
}

function filesBelow(root, folder) {
  return readdirSync(join(root, folder), { recursive: true })
    .filter(name => name.endsWith(".test.ts"))
    .map(name => join(folder, name))
    .sort();
}

/**
 * The test files that the words of a command line name: a file, a folder, or any part of a path.
 * No words name every file. Throws UserError for a word that matches nothing.
 */
export function selectFiles(root, words) {
  if (words.length === 0) return testFiles(root);
  return [...new Set(words.flatMap(word => matching(root, word)))];
}

function matching(root, word) {
  const path = relative(root, resolve(word));
  const stats = statSync(join(root, path), { throwIfNoEntry: false });
  if (stats?.isFile()) return [path];
  if (stats?.isDirectory() && !path.startsWith("..")) return filesBelow(root, path);
  const found = testFiles(root).filter(file => file.includes(word));
  if (found.length === 0) throw new UserError(`no test file matches "${word}"`);
  return found;
}

/** Whether a test file needs neither stores nor sandboxes nor other processes. */
export function isUnitTest(root, file) {
  return !someModule(root, file, text => STARTS_SOMETHING.some(pattern => pattern.test(text)));
}

/** Whether a test file must not run beside another one. */
export function runsAlone(root, file) {
  return RUNS_ALONE.test(readFileSync(join(root, file), "utf8"));
}

/** Whether a test file is too long for `npm test`: all of it, or tests of it. */
export function howLong(root, file) {
  const text = readFileSync(join(root, file), "utf8");
  if (RUNS_LONG.test(text)) return "all";
  return text.includes(`${LONG_TEST}"`) || text.includes(`${LONG_TEST}\``) ? "tests" : "none";
}

/**
 * Which tests of a file run, as options of mocha: in `npm test` those that are not long, with `--long` those that are; all of a file
 * that is long as a whole. Undefined: the file has none of them.
 */
export function partOf(root, file, isLong) {
  const long = howLong(root, file);
  if (long === "all") return isLong ? {} : undefined;
  if (long === "none") return isLong ? undefined : {};
  return { grep: LONG_TEST, invert: !isLong };
}

/** Whether the predicate holds for the text of a file or of any file in test/ that it imports. */
function someModule(root, file, predicate, seen = new Set()) {
  const path = resolve(root, file);
  const isOurs = path.startsWith(join(root, "test/")) && path.endsWith(".ts");
  if (!isOurs || seen.has(path) || !statSync(path, { throwIfNoEntry: false })?.isFile()) return false;
  seen.add(path);
  const text = readFileSync(path, "utf8");
  if (predicate(text)) return true;
  return [...text.matchAll(IMPORT)].some(([, name]) =>
    someModule(root, join(dirname(path), name), predicate, seen),
  );
}

/** The files with the longest first, so that no worker is left with a long one at the end. */
export function longestFirst(files, durations) {
  const rank = file => (SLOWEST.includes(file) ? Number.MAX_SAFE_INTEGER - SLOWEST.indexOf(file) : 0);
  const expected = file => durations[file] ?? rank(file);
  return [...files].sort((a, b) => expected(b) - expected(a));
}
