import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdtempSync, openSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { aptInstall, canInstall } from "../../script/lib/apt.mjs";
import { findProgram, lastLine, run } from "../../script/lib/commands.mjs";
import { choosePort } from "../../script/lib/ports.mjs";
import { within } from "../../script/lib/processes.mjs";
import type { Watched } from "../meter.ts";
import { PeerUnavailable } from "./peer.ts";
import { withChildren } from "./running.ts";

/** A PostgreSQL with its default settings for one measurement, as the superuser `postgres` without a password. */
export interface Postgres {
  port: number;
  watched: Watched[];
  stop(): Promise<void>;
}

/** Debian keeps the server's programs off the PATH. */
const DEBIAN = "/usr/lib/postgresql";
/** The server refuses to run as root. */
const USER = "postgres";
const START_MS = 60_000;

/** Installs PostgreSQL by apt-get if there is none. Throws PeerUnavailable. */
export async function preparePostgres(root: string): Promise<void> {
  if (folderOfPrograms() !== undefined) return;
  if (!canInstall())
    throw new PeerUnavailable(
      "it needs PostgreSQL, which only root can install by apt-get: install postgresql",
    );
  const logFile = join(root, ".cache/apt-postgresql.log");
  try {
    await aptInstall("postgresql", { instead: "install postgresql yourself", logFile });
  } catch (error) {
    throw new PeerUnavailable((error as Error).message);
  }
}

/** The folder with `initdb` and `postgres`: that of the PATH, or the newest of Debian. */
function folderOfPrograms(): string | undefined {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN) : [];
  const folders = versions.sort((a, b) => Number(b) - Number(a)).map(version => join(DEBIAN, version, "bin"));
  const found = findProgram("postgres", [process.env.PATH, ...folders].join(":"));
  // The PATH may have a link to one program, without those beside it.
  return found && dirname(realpathSync(found));
}

/** Starts a new server on a free port, with its data in a folder of its own, which `stop` removes. */
export async function startPostgres(logFile: string): Promise<Postgres> {
  const programs = folderOfPrograms() ?? "";
  const folder = mkdtempSync(join(tmpdir(), "headwater-postgres-"));
  const data = join(folder, "data");
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    if (isRoot()) await mustRun("chown", [USER, folder]);
    else chmodSync(folder, 0o700);
    await mustRun(...asUser(join(programs, "initdb"), ["-D", data, "-U", USER, "--auth=trust"]));
  } catch (error) {
    remove();
    throw error;
  }
  const port = await choosePort(0);
  const settings = ["listen_addresses=127.0.0.1", "unix_socket_directories="].flatMap(one => ["-c", one]);
  const [program, args] = asUser(join(programs, "postgres"), ["-D", data, "-p", String(port), ...settings]);
  const log = openSync(logFile, "a");
  const server = spawn(program, args, { cwd: folder, stdio: ["ignore", log, log] });
  const stop = async () => {
    await end(server);
    remove();
  };
  const isReady = async () =>
    (await run(join(programs, "pg_isready"), ["-h", "127.0.0.1", "-p", String(port)])).code === 0;
  if (!(await within(START_MS, isReady, { everyMs: 200 }))) {
    await stop();
    throw new Error(`PostgreSQL did not start: see ${logFile}`);
  }
  return { port, watched: withChildren("PostgreSQL", server.pid ?? 0), stop };
}

const isRoot = () => process.getuid?.() === 0;

/** The same command as the server's user, ended if this process is killed. */
function asUser(program: string, args: string[]): [string, string[]] {
  const user = isRoot() ? ["--reuid", USER, "--regid", USER, "--clear-groups"] : [];
  return ["setpriv", [...user, "--pdeathsig", "INT", program, ...args]];
}

async function mustRun(program: string, args: string[]): Promise<void> {
  const { code, output } = await run(program, args, { cwd: tmpdir() });
  if (code !== 0) throw new Error(`${[program, ...args].join(" ")}: ${lastLine(output)}`);
}

/** SIGINT is PostgreSQL's fast shutdown, which does not wait for its clients. */
async function end(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  server.kill("SIGINT");
  await once(server, "exit");
}
