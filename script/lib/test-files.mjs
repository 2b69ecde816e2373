import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

const IMPORT = /(?:from|import\()\s*["'](\.[^"']+)["']/g;
const STORE_SETTING = /TEST_(?:MONGODB|REDIS)_URL/;

/** Every test file below test/, as paths from the root. */
export function testFiles(root) {
  return readdirSync(join(root, "test"), { recursive: true })
    .filter(name => name.endsWith(".test.ts"))
    .map(name => join("test", name))
    .sort();
}

/** Whether a test reads the address of a store, itself or through what it imports from test/. */
export function needsStores(root, file, seen = new Set()) {
  const path = resolve(root, file);
  if (seen.has(path) || !path.startsWith(join(root, "test")) || !existsSync(path)) return false;
  seen.add(path);
  const text = readFileSync(path, "utf8");
  if (STORE_SETTING.test(text)) return true;
  return [...text.matchAll(IMPORT)].some(([, name]) => needsStores(root, join(dirname(path), name), seen));
}

/** Whether mocha's arguments name files themselves (a file, a folder or a pattern), apart from options' values. */
export function namesFiles(args) {
  return args.some((arg, index) => {
    if (arg.startsWith("-") || /^(-g|--grep|-f|--fgrep)$/.test(args[index - 1] ?? "")) return false;
    return /\.test\.ts$|[*{]/.test(arg) || existsSync(arg);
  });
}
