import { existsSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findProgram, lastLine, run } from "./commands.mjs";
import { UserError } from "./user-error.mjs";

const POLICY = "/usr/sbin/policy-rc.d";
/** One of our processes at a time: apt-get waits for the lock of dpkg, but not for that of the package lists. */
const LOCK = join(tmpdir(), "headwater-apt.lock");

/** Whether this process may install system packages: it is root, on Debian or a distribution derived from it. */
export function canInstall() {
  return process.getuid?.() === 0 && findProgram("apt-get") !== undefined;
}

/** Waits until none of our processes is installing a package: a program may be there before its libraries are. */
export async function whenNothingIsInstalled({ signal } = {}) {
  await run("flock", [LOCK, "true"], { signal });
}

/**
 * Installs one Debian package and keeps its service from starting: the scripts run the program themselves, on their
 * own port and folder. Throws a UserError that ends with `instead` (what to do without the package) if apt-get fails.
 */
export async function aptInstall(name, { instead, logFile, signal }) {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const apt = async (...args) => {
    const { code, output } = await run("flock", [LOCK, "apt-get", "-o", "DPkg::Lock::Timeout=120", ...args], {
      env,
      logFile,
      signal,
    });
    if (code === 0) return;
    const reason = output.split("\n").findLast(line => line.startsWith("E: ")) ?? lastLine(output);
    throw new UserError(`apt-get could not install ${name} (${reason.replace(/^E: /, "")}): ${instead}`);
  };
  // Exit code 101 forbids starting services. An existing policy belongs to the machine's owner and stays.
  const ownPolicy = !existsSync(POLICY);
  if (ownPolicy) writeFileSync(POLICY, "#!/bin/sh\nexit 101\n", { mode: 0o755 });
  try {
    await apt("update");
    await apt("install", "-y", "--no-install-recommends", name);
  } finally {
    if (ownPolicy) rmSync(POLICY, { force: true });
  }
}

/** Stops the service of a package that was just installed, and keeps it from starting with the machine. */
export async function disableService(name, { signal } = {}) {
  if (existsSync("/run/systemd/system")) await run("systemctl", ["disable", "--now", name], { signal });
}
