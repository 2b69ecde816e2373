import { chmod, chown, link, mkdir, readdir, readFile, symlink } from "node:fs/promises";
import { join } from "node:path";
import { type OwnedFolder, openOwnedFolder, removeAbandonedFolders, removeFolder } from "../lib/folders.ts";

/** The files of one sandbox. A sandbox that has its own user id can't see the workspaces of other sandboxes. */
export interface Workspace {
  /** The folder that the component can read and write. */
  privateFolder: string;
  /** deno's own folder, if it has one. Nothing can be created in it. */
  denoFolder: string | undefined;
  /** The component's code. */
  modulePath: string;
  /** Path of the gateway's socket. */
  gatewayPath: string;
  /** Lets the sandbox connect to the gateway, which must be listening by then. */
  grantGateway(): Promise<void>;
  remove(): Promise<void>;
}

export interface WorkspaceOptions {
  hostFolder: string;
  name: string;
  /** The file that contains the bundle. */
  modulePath: string;
  /** Folder of the compiled prelude, if it is ready; see `prepareCodeCache`. */
  cacheFolder?: string | undefined;
  /** User and group id of the sandbox, if it has its own. */
  id: number | undefined;
}

/**
 * Creates a workspace, or throws and leaves nothing of it. Its folder belongs to the worker and can be entered by the
 * sandbox's group; only the private folder inside belongs to the sandbox. deno's folder is its own too: in a shared one,
 * the Cache API, which asks for no permission, would let sandboxes of one user id read each other's data, outside of their
 * disk limit.
 */
export async function createWorkspace(options: WorkspaceOptions): Promise<Workspace> {
  const { hostFolder, name, id } = options;
  const path = join(hostFolder, name);
  const privateFolder = join(path, "files");
  const modulePath = join(path, "component.mjs");
  const gatewayPath = join(path, "out.sock");
  let denoFolder: string | undefined;
  const remove = async () => {
    if (denoFolder) await chmod(denoFolder, 0o700).catch(() => undefined);
    // A file that can't be removed is out of reach for the next sandbox that gets this user id.
    await chmod(path, 0o700).catch(() => undefined);
    await removeFolder(path);
  };
  try {
    await mkdir(path, { mode: 0o700 });
    await Promise.all([mkdir(privateFolder, { mode: 0o700 }), link(options.modulePath, modulePath)]);
    if (options.cacheFolder) denoFolder = await linkCache(join(path, "deno"), options.cacheFolder);
    if (id !== undefined) {
      await chown(privateFolder, id, id);
      await chown(path, process.getuid?.() ?? 0, id);
      await chmod(path, 0o710);
    }
  } catch (error) {
    await remove();
    throw error;
  }
  return {
    privateFolder,
    denoFolder,
    modulePath,
    gatewayPath,
    async grantGateway() {
      if (id === undefined) return;
      await chown(gatewayPath, id, id);
      await chmod(gatewayPath, 0o600);
    },
    remove,
  };
}

/** Creates a folder through which deno reads the compiled prelude, and in which no sandbox can create anything. */
async function linkCache(folder: string, cacheFolder: string): Promise<string> {
  await mkdir(folder, { mode: 0o700 });
  const files = await readdir(cacheFolder);
  await Promise.all(files.map(name => symlink(join(cacheFolder, name), join(folder, name))));
  await chmod(folder, 0o555);
  return folder;
}

const PREFIX = "headwater-sandbox-";

/**
 * Creates the folder of one sandbox host: the prelude, the bundles, and a workspace for each child. Before that, it removes the
 * folders of hosts that were killed, and ends their children, one of which may still be in an endless loop.
 */
export async function openHostFolder(): Promise<OwnedFolder> {
  await removeAbandonedFolders(PREFIX, killOrphans);
  const folder = await openOwnedFolder(PREFIX);
  await mkdir(join(folder.path, "bundles"), { mode: 0o700 });
  return folder;
}

/** Ends the processes that were started with this folder in their arguments. */
async function killOrphans(path: string): Promise<void> {
  const processes = await readdir("/proc").catch(() => []);
  for (const id of processes.filter(name => /^\d+$/.test(name))) {
    const command = await readFile(`/proc/${id}/cmdline`, "utf8").catch(() => "");
    if (!command.includes(`${path}/`)) continue;
    try {
      process.kill(Number(id), "SIGKILL");
    } catch {
      // It has ended in between.
    }
  }
}
