import type { OwnedFolder } from "../lib/folders.ts";
import { BundleFiles } from "./bundle.ts";
import { MAX_PROCESS_CPU_MS } from "./call-runner.ts";
import { type CodeCache, prepareCodeCache } from "./code-cache.ts";
import { findDeno } from "./deno-command.ts";
import { type Prelude, writePrelude } from "./prelude.ts";
import { findPrivileges, type Privileges } from "./privileges.ts";
import type { SandboxesOptions } from "./sandboxes.ts";
import { DISK_LIMIT } from "./watchdog.ts";
import { openHostFolder } from "./workspace.ts";

/** Above the ids that distributions and directory services assign to people. */
const FIRST_USER_ID = 200_000;
/** Memory outside of the heap, which V8's limit does not include: deno itself, compiled code, buffers. */
export const NON_HEAP_MB = 192;
/**
 * The kernel's limit also counts memory that V8 only reserves, 580 MB as measured. It must be high enough that the
 * limits of V8 and the watchdog are reached first.
 */
const RESERVED_MB = 768;

/** What a host needs before its first sandbox: a second of processor time. Several hosts of a process may share it. */
export interface PreparedSandboxes {
  folder: OwnedFolder;
  prelude: Prelude;
  privileges: Privileges;
  codeCache: CodeCache;
  bundleFiles: BundleFiles;
  /** To be called once no host uses it any more. */
  close(): Promise<void>;
}

/**
 * Prepares hosts with these limits of memory and time. Throws if deno is not installed or the host's folder can't be created.
 */
export async function prepareSandboxes({
  limits: { heapMb, wallMs, cpuMs = wallMs },
  firstUserId = FIRST_USER_ID,
}: Pick<SandboxesOptions, "limits" | "firstUserId">): Promise<PreparedSandboxes> {
  const deno = findDeno();
  const folder = await openHostFolder();
  try {
    const prelude = await writePrelude(folder.path);
    const privileges = await findPrivileges({
      deno,
      hostFolder: folder.path,
      firstUserId,
      limits: {
        cpuSeconds: Math.ceil((MAX_PROCESS_CPU_MS + 4 * Math.max(wallMs, cpuMs)) / 1000),
        dataMb: heapMb + NON_HEAP_MB + RESERVED_MB,
        fileMb: DISK_LIMIT.maxBytes / 1024 / 1024,
      },
    });
    const codeCache = prepareCodeCache({ deno, hostFolder: folder.path, prelude, heapMb });
    return {
      ...{ folder, prelude, privileges, codeCache },
      bundleFiles: new BundleFiles(`${folder.path}/bundles`),
      async close() {
        codeCache.stop();
        await codeCache.done;
        await privileges.close();
        await folder.close();
      },
    };
  } catch (error) {
    await folder.close();
    throw error;
  }
}
