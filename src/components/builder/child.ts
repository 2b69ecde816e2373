/**
 * The build process: one beside each web process, and beside a command that saves components. It parses, installs, bundles and
 * compresses for all accounts, so that nothing of that holds up a request. It has none of the platform's settings and
 * secrets, and ends when the process that started it does.
 */

import { createHash } from "node:crypto";
import { open, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { giveWayItself } from "../../fairness/niceness.ts";
import { bundleGraph, type ComponentBundle } from "../bundle.ts";
import { cutBundle } from "../bundle-parts.ts";
import { codeTraits } from "../code-traits.ts";
import type { ModuleLoader, SourceModule } from "../load-modules.ts";
import { readModuleGraph } from "../module-graph.ts";
import {
  BUNDLE_FILE,
  type BuildOrder,
  type BuildResult,
  type CallMessage,
  PACKED_FILE,
  type PackedPart,
  ProcessCalls,
} from "./calls.ts";

/** How often it shows that it still reads messages. */
const ALIVE_EVERY_MS = 1000;

giveWayItself();

const calls = new ProcessCalls(message => process.send?.(message), { build });
process.on("message", message => calls.receive(message as CallMessage));
process.on("disconnect", () => process.exit());
// A terminal sends them to all its processes; the one that started this one says when it ends.
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => {});
setInterval(() => void calls.call("alive").catch(() => undefined), ALIVE_EVERY_MS);

/** Returns null if the caller knows the code by its hash. */
async function build(id: number, { folder, loader, options }: BuildOrder): Promise<BuildResult | null> {
  const modules = remoteLoader(calls, id, loader);
  const graph = await readModuleGraph(modules, options.account);
  if (!(await calls.call<boolean>("goesOn", id, graph.hash))) return null;
  const mayInstall = () => calls.call<void>("mayInstall", id);
  return writeBuilt(await bundleGraph(graph, modules, { ...options, mayInstall }), folder);
}

/** Returns the loader of a build in another process, which has the files and the way out. */
function remoteLoader(
  calls: ProcessCalls,
  build: number,
  { field, declaresRanges }: BuildOrder["loader"],
): ModuleLoader {
  return {
    field,
    entry: () => calls.call<SourceModule>("entry", build),
    resolve: (specifier, importerId) => calls.call<SourceModule>("resolve", build, specifier, importerId),
    ...(declaresRanges && {
      declaredRange: (name: string, importerId: string) =>
        calls.call<string>("declaredRange", build, name, importerId),
    }),
  };
}

const compress = promisify(gzip);
const sha256 = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

/** Writes a bundle to a folder, as it is and with gzip, and returns the rest. */
async function writeBuilt(
  { code, hash, modules, packages }: ComponentBundle,
  folder: string,
): Promise<BuildResult> {
  const text = Buffer.from(code);
  await writeFile(join(folder, BUNDLE_FILE), text);
  return {
    hash,
    modules,
    packages,
    bundleHash: sha256(text),
    bundleBytes: text.length,
    parts: await pack(text, join(folder, PACKED_FILE)),
    traits: codeTraits(code),
  };
}

/** Writes each part of the text with gzip, one after the other, which together are the whole text with gzip. */
async function pack(text: Buffer, path: string): Promise<PackedPart[]> {
  const parts: PackedPart[] = [];
  const file = await open(path, "w");
  try {
    for (const part of cutBundle(text)) {
      const packed = await compress(part);
      await file.appendFile(packed);
      parts.push({ hash: sha256(part), bytes: packed.length });
    }
  } finally {
    await file.close();
  }
  return parts;
}
