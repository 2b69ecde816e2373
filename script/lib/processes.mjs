import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

/** The command line of a live process, its words joined by blanks; undefined when there is none (or a zombie). */
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
 * Whether the process is alive and the one we started. A number in a pid file proves nothing, since numbers are
 * used again; the command line must hold every mark, such as the data folder it works on.
 */
export function isOurs(pid, marks) {
  const line = Number.isInteger(pid) && pid > 1 ? commandLine(pid) : undefined;
  return line !== undefined && marks.every(mark => line.includes(mark));
}

/** The process number in a pid file; NaN when there is none. */
export function readPid(file) {
  try {
    return Number(readFileSync(file, "utf8"));
  } catch {
    return Number.NaN;
  }
}

/** Waits until the test is true (or resolves to true) and says whether it was within the time. */
export async function within(timeoutMs, test, { everyMs = 50, signal } = {}) {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    signal?.throwIfAborted();
    if (await test()) return true;
    if (Date.now() >= deadline) return false;
    await delay(everyMs);
  }
}

/** Ends a process of ours: asks with SIGTERM, and after `graceMs` makes it end. Resolves when it is gone. */
export async function stopProcess(pid, marks, graceMs) {
  const gone = () => !isOurs(pid, marks);
  if (gone()) return;
  sendSignal(pid, "SIGTERM");
  if (await within(graceMs, gone)) return;
  if (!gone()) sendSignal(pid, "SIGKILL");
  await within(2000, gone);
}

/** Sends a signal; a process (or, with a negative number, a group) that is gone already is fine. */
export function sendSignal(pid, signal) {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (error.code !== "ESRCH") throw error;
  }
}
