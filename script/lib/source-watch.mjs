import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

const FOLDERS = ["src", "workers"];
// Polled, because that works the same on every system and in a container; 300 files take 3 ms.
const EVERY_MS = 300;

/** Imports that exist at run time, which `import type` does not. */
const IMPORT =
  /(?:^|\n)\s*(?:import|export)\s+(?!type\b)(?:[^"';]*?\sfrom\s*)?["'](\.[^"']+)["']|import\(\s*["'](\.[^"']+)["']\s*\)/g;

/**
 * Calls `onChange(files)` after files in src/ or workers/ were saved, with their paths from the root, once no more
 * changes come. Waits for `onChange` before it looks again. Resolves when the signal (an AbortSignal) is aborted.
 */
export async function watchSources({ root, signal, onChange, everyMs = EVERY_MS }) {
  let known = snapshot(root);
  while (await isStillOn(everyMs, signal)) {
    if (changes(known, snapshot(root)).length === 0) continue;
    await onChange(await settledChanges());
  }

  async function settledChanges() {
    let latest = snapshot(root);
    for (;;) {
      await isStillOn(everyMs, signal);
      const next = snapshot(root);
      const isSettled = changes(latest, next).length === 0;
      latest = next;
      if (isSettled || signal.aborted) break;
    }
    const changed = changes(known, latest);
    known = latest;
    return changed;
  }
}

async function isStillOn(ms, signal) {
  await delay(ms, undefined, { signal }).catch(() => {});
  return !signal.aborted;
}

/** The files with their time of modification. */
function snapshot(root) {
  const files = new Map();
  for (const folder of FOLDERS) {
    for (const name of readdirSync(join(root, folder), { recursive: true })) {
      const path = join(folder, name);
      const stats = statSync(join(root, path), { throwIfNoEntry: false });
      if (stats?.isFile()) files.set(path, stats.mtimeMs);
    }
  }
  return files;
}

function changes(before, after) {
  const saved = [...after].filter(([path, at]) => before.get(path) !== at).map(([path]) => path);
  const removed = [...before.keys()].filter(path => !after.has(path));
  return [...saved, ...removed];
}

/** Whether a program that starts with `entry` runs code of one of these files (paths from the root). */
export function isAffected(root, entry, files) {
  // Other files are read, not imported: scripts for Redis, the sandbox's own files.
  if (files.some(file => !file.endsWith(".ts") || file.startsWith(join("src", "sandbox", "child"))))
    return true;
  const imported = importedBy(root, entry);
  return files.some(file => imported.has(file));
}

function importedBy(root, entry, found = new Set()) {
  if (found.has(entry)) return found;
  found.add(entry);
  let text = "";
  try {
    text = readFileSync(join(root, entry), "utf8");
  } catch {
    // Removed: whatever imports it fails when it starts, and says so.
  }
  for (const [, first, second] of text.matchAll(IMPORT)) {
    importedBy(root, relative(root, resolve(root, dirname(entry), first ?? second)), found);
  }
  return found;
}
