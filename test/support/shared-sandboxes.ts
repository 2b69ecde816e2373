import { chmodSync, rmSync } from "node:fs";
import { join } from "node:path";
import { startBuildsWith } from "../../src/components/builder/build-process.ts";
import { openSandboxes } from "../../src/sandbox/host.ts";
import { type PreparedSandboxes, prepareSandboxes } from "../../src/sandbox/prepare.ts";
import type { Sandboxes, SandboxesOptions } from "../../src/sandbox/sandboxes.ts";
import { programOf } from "./built.ts";

// Each test process builds components in one of these, for all of its files.
const [builder = ""] = programOf("src/components/builder/child.ts");
if (builder.endsWith(".js")) startBuildsWith(builder);

/** By the limits that they are prepared for. They stay until the process ends. */
const prepared = new Map<string, Promise<PreparedSandboxes>>();

/**
 * As `openSandboxes`. What a host needs before its first sandbox is prepared once in a test process for each set of limits: all
 * of its test files together open hundreds of hosts. Processes, slots, limits and the way out are each host's own.
 */
export async function openSharedSandboxes(options: SandboxesOptions): Promise<Sandboxes> {
  const { limits, firstUserId } = options;
  const key = JSON.stringify([limits.heapMb, limits.wallMs, limits.cpuMs, firstUserId]);
  const shared = prepared.get(key) ?? prepare(options);
  prepared.set(key, shared);
  shared.catch(() => prepared.delete(key));
  return await openSandboxes(options, await shared);
}

async function prepare(options: SandboxesOptions): Promise<PreparedSandboxes> {
  const shared = await prepareSandboxes(options);
  process.once("exit", () => remove(shared.folder.path));
  return shared;
}

/** What is left is removed by the next host on this machine. */
function remove(folder: string): void {
  try {
    // Nothing can be created or removed there.
    chmodSync(join(folder, "deno"), 0o700);
  } catch {}
  rmSync(folder, { recursive: true, force: true });
}
