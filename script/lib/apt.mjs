import { existsSync, rmSync, writeFileSync } from "node:fs";
import { findProgram, lastLine, run } from "./commands.mjs";
import { Complaint } from "./complaint.mjs";

const POLICY = "/usr/sbin/policy-rc.d";

/** Whether we may install packages of the system: root on Debian or a relative of it. */
export function canInstall() {
  return process.getuid?.() === 0 && findProgram("apt-get") !== undefined;
}

/**
 * Installs one Debian package without letting its service listen: we run the program ourselves, on a port and a
 * folder of our own. `instead` ends the complaint that is thrown when apt-get fails: what to do without it.
 */
export async function aptInstall(name, { instead, logFile, signal }) {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const apt = async (...args) => {
    const { code, output } = await run("apt-get", ["-o", "DPkg::Lock::Timeout=120", ...args], {
      env,
      logFile,
      signal,
    });
    if (code === 0) return;
    const reason = output.split("\n").findLast(line => line.startsWith("E: ")) ?? lastLine(output);
    throw new Complaint(`apt-get could not install ${name} (${reason.replace(/^E: /, "")}): ${instead}`);
  };
  // "101" forbids starting services. A policy that is there belongs to the machine's owner, and stays.
  const ownPolicy = !existsSync(POLICY);
  if (ownPolicy) writeFileSync(POLICY, "#!/bin/sh\nexit 101\n", { mode: 0o755 });
  try {
    await apt("update");
    await apt("install", "-y", "--no-install-recommends", name);
  } finally {
    if (ownPolicy) rmSync(POLICY, { force: true });
  }
}

/** Stops a service that came with a package we just installed, and keeps it from starting with the machine. */
export async function disableService(name, { signal } = {}) {
  if (existsSync("/run/systemd/system")) await run("systemctl", ["disable", "--now", name], { signal });
}
