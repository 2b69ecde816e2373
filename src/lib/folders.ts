import { chmod, lstat, mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A folder for temporary files that its process has while it runs. */
export interface OwnedFolder {
  path: string;
  /** Removes the folder. */
  close(): Promise<void>;
}

/** The process that has the folder listens on it. */
const SOCKET = "alive.sock";
/** A starting process has a folder before it listens in it; a folder without a socket that is younger than this is left. */
const START_MS = 60_000;

/**
 * Creates a folder whose name begins with `prefix`. Until it is closed, or the process ends, it counts as in use. Throws Node's error,
 * also if the folder for temporary files has a path of over some 80 bytes: that of a socket has at most 107.
 */
export async function openOwnedFolder(prefix: string): Promise<OwnedFolder> {
  const path = await mkdtemp(join(tmpdir(), prefix));
  const aliveServer = createServer(socket => socket.destroy());
  try {
    await new Promise<void>((resolve, reject) => {
      aliveServer.once("error", reject);
      aliveServer.listen(join(path, SOCKET), resolve);
    });
  } catch (error) {
    await removeFolder(path);
    throw error;
  }
  aliveServer.unref();
  return {
    path,
    async close() {
      await new Promise(resolve => aliveServer.close(resolve));
      await removeFolder(path);
    },
  };
}

/** Removes the folders with the prefix whose processes were killed; first calls `before` with the path of each. */
export async function removeAbandonedFolders(
  prefix: string,
  before: (path: string) => Promise<void> = async () => {},
): Promise<void> {
  const entries = await readdir(tmpdir()).catch(() => []);
  for (const entry of entries.filter(name => name.startsWith(prefix))) {
    const path = join(tmpdir(), entry);
    if (!(await isAbandoned(path))) continue;
    await before(path);
    await removeFolder(path);
  }
}

/**
 * Connects to the folder's socket. A process id would not do: processes in several containers may share one temp folder.
 */
async function isAbandoned(path: string): Promise<boolean> {
  const outcome = await new Promise<string>(resolve => {
    const socket = connect(join(path, SOCKET), () => {
      socket.destroy();
      resolve("alive");
    });
    socket.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? ""));
  });
  if (outcome !== "ENOENT") return outcome === "ECONNREFUSED";
  const created = await stat(path).catch(() => undefined);
  return created !== undefined && Date.now() - created.mtimeMs > START_MS;
}

/**
 * Removes a folder as far as possible, also if a component has taken away the permissions on its files. The next start
 * tries again.
 */
export async function removeFolder(path: string): Promise<void> {
  const remove = () => rm(path, { recursive: true, force: true, maxRetries: 3 });
  await remove()
    .catch(() => permitRemoval(path).then(remove))
    .catch(() => {});
}

/** Entries may vanish at the same time: a removal that fails does not wait for those that it has begun. */
async function permitRemoval(path: string): Promise<void> {
  await chmod(path, 0o700).catch(() => {});
  for (const entry of await readdir(path, { withFileTypes: true }).catch(() => [])) {
    if (entry.isDirectory()) await permitRemoval(join(path, entry.name));
  }
}

export interface FolderLimit {
  maxBytes: number;
  /** Number of files and folders. */
  maxEntries: number;
}

/** Returns true if the files and folders below these exceed the limit. It stops counting as soon as they do. */
export async function exceedsLimit(paths: string | readonly string[], limit: FolderLimit): Promise<boolean> {
  let bytes = 0;
  let entries = 0;
  const folders = [paths].flat();
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const list = await readdir(folder, { withFileTypes: true }).catch(() => []);
    entries += list.length;
    if (entries > limit.maxEntries) return true;
    for (const entry of list) {
      const inside = join(folder, entry.name);
      if (entry.isDirectory()) folders.push(inside);
      else bytes += await usedBytes(inside);
      if (bytes > limit.maxBytes) return true;
    }
  }
  return false;
}

/** Returns the bytes that the files below `path` use on disk; 0 if there is no such folder. */
export async function folderBytes(path: string): Promise<number> {
  let bytes = 0;
  const folders = [path];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
      const inside = join(folder, entry.name);
      if (entry.isDirectory()) folders.push(inside);
      else bytes += await usedBytes(inside);
    }
  }
  return bytes;
}

/** Counts blocks instead of the length, because a sparse file uses no disk space. */
function usedBytes(path: string): Promise<number> {
  return lstat(path).then(
    found => found.blocks * 512,
    () => 0,
  );
}
