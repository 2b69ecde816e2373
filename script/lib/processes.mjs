import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

/** The command line of a running process, joined by blanks; undefined if the process is gone or a zombie. */
export function commandLine(pid) {
  try {
    const text =
      process.platform === "linux"
        ? readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ")
        : execFileSync("ps", ["-ww", "-o", "command=", "-p", String(pid)], { encoding: "utf8" });
    return text.trim() || undefined;
  } catch {
    return undefined;
  }
}

/**
 * Whether the process is running and is the one that these scripts started. Because the system reuses process ids, the
 * process's command line must contain every mark, such as its data folder.
 */
export function isOurs(pid, marks) {
  const line = Number.isInteger(pid) && pid > 1 ? commandLine(pid) : undefined;
  return line !== undefined && marks.every(mark => line.includes(mark));
}

/** The process id in a pid file; NaN if there is no such file. */
export function readPid(file) {
  try {
    return Number(readFileSync(file, "utf8"));
  } catch {
    return Number.NaN;
  }
}

/** /proc counts processor time in ticks of 10 ms. */
const TICK_MS = 10;

/** Milliseconds of processor time of a process, and of its children that have ended; 0 where /proc does not say. */
export function cpuMs(pid) {
  try {
    // The fields after the program's name in brackets: from the 12th on, user and system time, and those of the children.
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1).split(" ");
    const [user, system, childrensUser, childrensSystem] = fields.slice(11, 15).map(Number);
    return { self: (user + system) * TICK_MS, children: (childrensUser + childrensSystem) * TICK_MS };
  } catch {
    return { self: 0, children: 0 };
  }
}

/** Waits until the test returns true (or resolves to true). Returns false if it did not within the time. */
export async function within(timeoutMs, test, { everyMs = 50, signal } = {}) {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    signal?.throwIfAborted();
    if (await test()) return true;
    if (Date.now() >= deadline) return false;
    await delay(everyMs);
  }
}

/** Ends a process with SIGTERM, and with SIGKILL after `graceMs`. `marks` as in isOurs. Resolves when it is gone. */
export async function stopProcess(pid, marks, graceMs) {
  const gone = () => !isOurs(pid, marks);
  if (gone()) return;
  sendSignal(pid, "SIGTERM");
  if (await within(graceMs, gone)) return;
  if (!gone()) sendSignal(pid, "SIGKILL");
  await within(2000, gone);
}

/** Sends a signal to a process, or to a process group if `pid` is negative. Does nothing if it is already gone. */
export function sendSignal(pid, signal) {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (error.code !== "ESRCH") throw error;
  }
}
