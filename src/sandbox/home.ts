import { mkdir, mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The folder of one host: prelude, bundles, and a private folder and a gateway socket for each child. */
export interface SandboxHome {
  path: string;
  close(): Promise<void>;
}

const PREFIX = "headwater-sandbox-";
/** Between making its folder and listening in it a starting host looks like a dead one. */
const SETTLED_MS = 60_000;

/**
 * Makes the folder, after it has cleared away what a host that was killed left behind: its children too, of which one
 * may be in an endless loop that nobody watches any more.
 */
export async function openSandboxHome(): Promise<SandboxHome> {
  await sweep();
  const path = await mkdtemp(join(tmpdir(), PREFIX));
  const alive = createServer(socket => socket.destroy());
  await new Promise<void>((done, failed) => {
    alive.once("error", failed);
    alive.listen(join(path, "alive.sock"), done);
  });
  alive.unref();
  await mkdir(join(path, "bundles"), { mode: 0o700 });
  return {
    path,
    async close() {
      await new Promise(done => alive.close(done));
      await removeFolder(path);
    },
  };
}

async function sweep(): Promise<void> {
  const entries = await readdir(tmpdir());
  for (const entry of entries.filter(name => name.startsWith(PREFIX))) {
    const path = join(tmpdir(), entry);
    if (!(await isAbandoned(path))) continue;
    await endOrphans(path);
    await removeFolder(path);
  }
}

/** By its socket rather than a process id: hosts in several containers may share one temp folder. */
async function isAbandoned(path: string): Promise<boolean> {
  const answer = await new Promise<string>(done => {
    const socket = connect(join(path, "alive.sock"), () => {
      socket.destroy();
      done("alive");
    });
    socket.once("error", (error: NodeJS.ErrnoException) => done(error.code ?? ""));
  });
  if (answer !== "ENOENT") return answer === "ECONNREFUSED";
  const made = await stat(path).catch(() => undefined);
  return made !== undefined && Date.now() - made.mtimeMs > SETTLED_MS;
}

/** A component may have made its files hard to remove; what stays is tried again at the next start. */
export async function removeFolder(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true, maxRetries: 3 }).catch(() => {});
}

/** Only processes that were started with this very folder in their arguments. */
async function endOrphans(path: string): Promise<void> {
  const processes = await readdir("/proc").catch(() => []);
  for (const id of processes.filter(name => /^\d+$/.test(name))) {
    const command = await readFile(`/proc/${id}/cmdline`, "utf8").catch(() => "");
    if (!command.includes(`${path}/`)) continue;
    try {
      process.kill(Number(id), "SIGKILL");
    } catch {
      // Gone by itself meanwhile.
    }
  }
}
