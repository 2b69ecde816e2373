import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { lastLine } from "./commands.mjs";
import { pathFromHere } from "./output.mjs";
import { choosePort, isFree, readPorts, rememberPort } from "./ports.mjs";
import { commandLine, isOurs, readPid, stopProcess, within } from "./processes.mjs";
import { UserError } from "./user-error.mjs";

// MongoDB may have to replay its journal after a kill -9; otherwise it is up within a second.
const START_MS = 180_000;
const FREE_MS = 20_000;
// Another program may take a port after it was found free and before the server listens.
const PORT_TRIES = 5;

/**
 * Returns a running store server of this folder: the one that a killed start left behind, else a new one. It has its
 * own process group, so that Ctrl-C reaches only the script, which stops the server last.
 *
 * `kind` describes the server: `{name, title, program, dataFlag, firstPort, args({port, data, pidFile, logFile}),
 * isUp(port)}`. `hold(handle)` is called as soon as there is a process to stop, even if the start fails later.
 * The handle is `{kind, pid, port, adopted, isAlive(), stop(graceMs)}`. Throws UserError if the server can't start.
 */
export async function startOrAdopt(kind, { folder, hold, signal }) {
  const files = storeFiles(kind, folder);
  mkdirSync(files.data, { recursive: true });
  const left = await adopt(kind, files, { hold, signal });
  if (left) return left;
  const portsFile = join(folder, "ports.json");
  for (let attempt = 1; ; attempt++) {
    const port = await choosePort(kind.firstPort, readPorts(portsFile)[kind.name]);
    signal?.throwIfAborted();
    const logged = sizeOf(files.logFile);
    const handle = launch(kind, files, port);
    hold(handle);
    if (await isUp(kind, handle, signal)) {
      rememberPort(portsFile, kind.name, port);
      return handle;
    }
    if (handle.isAlive()) await handle.stop(1000);
    else if (attempt < PORT_TRIES && !(await isFree(port))) continue;
    throw new UserError(
      `${kind.title} did not start: ${reasonIn(files.logFile, logged)} (see ${pathFromHere(files.logFile)})`,
    );
  }
}

function storeFiles({ name, dataFlag }, folder) {
  const data = join(folder, name);
  return {
    data,
    pidFile: join(folder, `${name}.pid`),
    logFile: join(folder, `${name}.log`),
    // Only the server of this folder has these on its command line.
    marks: [name === "mongo" ? "mongod" : "-server", `${dataFlag} ${data} `],
  };
}

/** A server that is ending has no command line any more, but may still listen on its port, which the next one is to have. */
export async function untilFree(port) {
  await within(FREE_MS, () => isFree(port));
}

async function adopt(kind, files, { hold, signal }) {
  const pid = readPid(files.pidFile);
  if (!isOurs(pid, files.marks)) return undefined;
  const port = Number(/ --port (\d+)/.exec(commandLine(pid) ?? "")?.[1]);
  const handle = handleOf(kind, files, pid, port);
  hold(handle);
  if (await isUp(kind, handle, signal)) return handle;
  await handle.stop(5000);
  await untilFree(port);
  return undefined;
}

function launch(kind, files, port) {
  const args = kind.args({ port, ...files });
  const child = spawn(kind.program, args, { cwd: files.data, detached: true, stdio: "ignore" });
  child.on("error", () => {});
  child.unref();
  // The server writes the same file later: a kill -9 of this script before that must not orphan the server.
  if (child.pid) writeFileSync(files.pidFile, `${child.pid}\n`);
  return handleOf(kind, files, child.pid, port, child);
}

function handleOf(kind, files, pid, port, child) {
  // An ended child stays a zombie until Node collects it, and at the same moment sets its exit code.
  const ended = () => child !== undefined && (child.exitCode !== null || child.signalCode !== null);
  return {
    kind,
    pid,
    port,
    adopted: child === undefined,
    isAlive: () => !ended() && isOurs(pid, files.marks),
    async stop(graceMs) {
      await stopProcess(pid, files.marks, graceMs);
      if (readPid(files.pidFile) === pid) rmSync(files.pidFile, { force: true });
    },
  };
}

async function isUp(kind, handle, signal) {
  let up = false;
  const settled = async () => {
    up = await kind.isUp(handle.port);
    return up || !handle.isAlive();
  };
  await within(START_MS, settled, { signal });
  return up && handle.isAlive();
}

/** The reason why a server ended, in one line, from what it has logged since the offset `from`. */
function reasonIn(logFile, from) {
  let text = "";
  try {
    text = readFileSync(logFile, "utf8").slice(from);
  } catch {}
  // mongod logs JSON. Its first error or fatal line has the cause; the later ones only say how it ended.
  const line = /^\{.*"s":"[EF]".*$/m.exec(text)?.[0];
  if (!line) return lastLine(text).replace(/^\d+:\w .*? [#*-] /, "") || "it ended without a log line";
  const { msg, attr } = JSON.parse(line);
  const detail = attr?.message?.msg ?? attr?.error?.errmsg ?? attr?.error ?? attr?.msg ?? "";
  return `${msg} ${typeof detail === "string" ? detail : JSON.stringify(detail)}`.replace(/\s+/g, " ").trim();
}

function sizeOf(file) {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
