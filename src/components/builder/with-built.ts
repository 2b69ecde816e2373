import { copyFile, link } from "node:fs/promises";
import { join } from "node:path";
import { LOCAL_ACCOUNT } from "../../fairness/slots.ts";
import { AppError } from "../../lib/errors.ts";
import { openOwnedFolder, removeAbandonedFolders } from "../../lib/folders.ts";
import type { BundleFile } from "../../sandbox/bundle.ts";
import type { BundleOptions } from "../bundle.ts";
import type { CodeTraits } from "../code-traits.ts";
import type { ModuleLoader } from "../load-modules.ts";
import { countInstallation } from "../npm-packages.ts";
import { type BuildCallbacks, BuildLostError, BuildProcess } from "./build-process.ts";
import { BUNDLE_FILE, type BuildOrder, type BuildResult, PACKED_FILE } from "./calls.ts";

/** A bundle in a file, and what is known of it. */
export interface BuiltBundle extends BundleFile {
  traits: CodeTraits;
}

export interface Built extends Pick<BuildResult, "hash" | "modules" | "packages" | "parts"> {
  bundle: BuiltBundle;
  /** Path of the bundle. */
  path: string;
  /** Path of the bundle with gzip: its parts, one after the other. */
  packedPath: string;
}

interface BuildOptions extends BundleOptions {
  account: string;
  /** Called with the hash of the component's own files; unless it returns true, nothing is installed and bundled. */
  goesOn?: (hash: string) => Promise<boolean>;
}

const PREFIX = "headwater-build-";
const RETRY_MS = 10_000;

/** The one of this process. It is started by the first build, and again after it was lost. */
let building: BuildProcess | undefined;

/** Returns the process that builds, or starts it. */
export function buildProcess(): BuildProcess {
  if (!building?.isUsable) {
    building = new BuildProcess();
    void removeAbandonedBuilds();
  }
  return building;
}

/**
 * Builds a component in the build process, and runs `use` with the result, whose files exist until then. Returns null if
 * `goesOn` returned false. A build whose process is lost is repeated once. Throws as `bundleComponent`, and
 * `unavailable` if the process is lost again.
 */
export async function withBuilt<T>(
  loader: ModuleLoader,
  options: BuildOptions,
  use: (built: Built) => Promise<T>,
): Promise<T | null> {
  const folder = await openOwnedFolder(PREFIX);
  try {
    const order = orderOf(loader, options, folder.path);
    const callbacks = callbacksOf(loader, options);
    const result = await buildOnce(order, callbacks)
      .catch((error: unknown) => {
        if (!(error instanceof BuildLostError)) throw error;
        return buildOnce(order, callbacks);
      })
      .catch((error: unknown) => {
        if (!(error instanceof BuildLostError)) throw error;
        const message = "the component could not be built, for lack of memory or time";
        throw new AppError("unavailable", message, { cause: error, retryAfterMs: RETRY_MS });
      });
    return result && (await use(builtIn(folder.path, result)));
  } finally {
    await folder.close();
  }
}

const buildOnce = async (order: BuildOrder, callbacks: BuildCallbacks): Promise<BuildResult | null> =>
  buildProcess().build(order, callbacks);

/** Names what the build process gets: none of the platform's other settings. */
function orderOf(loader: ModuleLoader, options: BuildOptions, folder: string): BuildOrder {
  const { cacheDir, npmEnvironment, npmrc, npmHosts, packagesLimit, packageCacheBytes, account } = options;
  return {
    folder,
    loader: { field: loader.field, declaresRanges: loader.declaredRange !== undefined },
    options: {
      cacheDir,
      account,
      npmrc,
      ...(npmEnvironment && { npmEnvironment }),
      ...(npmHosts && { npmHosts }),
      ...(packagesLimit && { packagesLimit }),
      ...(packageCacheBytes !== undefined && { packageCacheBytes }),
    },
  };
}

const callbacksOf = (loader: ModuleLoader, { account, goesOn }: BuildOptions): BuildCallbacks => ({
  entry: () => loader.entry(),
  resolve: (specifier, importerId) => loader.resolve(specifier, importerId),
  declaredRange: async (name, importerId) => (await loader.declaredRange?.(name, importerId)) ?? "",
  goesOn: async hash => (await goesOn?.(hash)) ?? true,
  // Here, because the count must outlive the build process.
  mayInstall: () => countInstallation(account ?? LOCAL_ACCOUNT),
});

/** Returns what was built into a folder. */
export function builtIn(folder: string, { bundleHash, bundleBytes, traits, ...result }: BuildResult): Built {
  const path = join(folder, BUNDLE_FILE);
  return {
    ...result,
    path,
    packedPath: join(folder, PACKED_FILE),
    bundle: {
      hash: bundleHash,
      bytes: bundleBytes,
      traits,
      // A link is not possible to another file system.
      writeTo: target => link(path, target).catch(() => copyFile(path, target)),
    },
  };
}

/** Removes what processes left behind that were killed while they built or saved a component. */
export async function removeAbandonedBuilds(): Promise<void> {
  await removeAbandonedFolders(PREFIX);
}
