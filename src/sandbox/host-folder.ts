import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The folder of one sandbox host: the prelude, the bundles, and a workspace for each child. */
export interface HostFolder {
  path: string;
  /** Removes the folder. */
  close(): Promise<void>;
}

const PREFIX = "headwater-sandbox-";
/**
 * A starting host has a folder before it listens in it; a folder without a socket that is younger than this is left.
 */
const START_MS = 60_000;

/**
 * Creates the folder. Before that, it removes the folders of hosts that were killed, and ends their children, one of
 * which may still be in an endless loop. While the host runs, it listens on a socket in its folder.
 */
export async function openHostFolder(): Promise<HostFolder> {
  await removeAbandoned();
  const path = await mkdtemp(join(tmpdir(), PREFIX));
  const aliveServer = createServer(socket => socket.destroy());
  await new Promise<void>((resolve, reject) => {
    aliveServer.once("error", reject);
    aliveServer.listen(join(path, "alive.sock"), resolve);
  });
  aliveServer.unref();
  await mkdir(join(path, "bundles"), { mode: 0o700 });
  return {
    path,
    async close() {
      await new Promise(resolve => aliveServer.close(resolve));
      await removeFolder(path);
    },
  };
}

async function removeAbandoned(): Promise<void> {
  const entries = await readdir(tmpdir());
  for (const entry of entries.filter(name => name.startsWith(PREFIX))) {
    const path = join(tmpdir(), entry);
    if (!(await isAbandoned(path))) continue;
    await killOrphans(path);
    await removeFolder(path);
  }
}

/**
 * Connects to the folder's socket. A process id would not do: hosts in several containers may share one temp folder.
 */
async function isAbandoned(path: string): Promise<boolean> {
  const outcome = await new Promise<string>(resolve => {
    const socket = connect(join(path, "alive.sock"), () => {
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
