import { execFile } from "node:child_process";
import { tmpdir } from "node:os";
import { promisify } from "node:util";
import { npmEnvironment } from "../../components/run-npm.ts";
import type { Platform } from "../../platform.ts";
import { type Finding, note, ok, problem } from "./finding.ts";

const TIMEOUT_MS = 20_000;
/** Earlier versions ignore the options that keep npm away from everything but the registry. */
const MIN_MAJOR = 11;
const ADVICE = `install npm ${MIN_MAJOR} or newer: npm install --global npm@${MIN_MAJOR}`;

/** Checks the npm that fetches the packages of components. `environment` is what npm may see of this process's own. */
export async function checkNpm(environment: NodeJS.ProcessEnv): Promise<Finding> {
  try {
    const env = npmEnvironment(environment, tmpdir());
    const { stdout } = await promisify(execFile)("npm", ["--version"], { env, timeout: TIMEOUT_MS });
    return judgeNpm(stdout.trim());
  } catch (error) {
    const [reason = ""] = (error as Error).message.split("\n");
    return problem("npm", `can't be run: ${reason}`, ADVICE);
  }
}

/** Judges a version of npm. Pure. */
export function judgeNpm(version: string): Finding {
  if (Number.parseInt(version, 10) >= MIN_MAJOR) return ok("npm", `version ${version}`);
  const message = `version ${version} lets a package of a component make npm fetch any address`;
  return problem("npm", message, ADVICE);
}

const PROBE = { hash: "doctor", code: `export default { name: "Probe", version: "0.0.1", run() {} };` };

/** Starts a sandbox on this machine, and says which of the system's restrictions it has. */
export async function checkSandbox(platform: Pick<Platform, "sandboxes">): Promise<Finding[]> {
  try {
    const sandboxes = await platform.sandboxes();
    await sandboxes.describe(PROBE);
    const { active, missing } = sandboxes.privileges;
    const has = ok(
      "sandbox",
      `can be started here, with ${active.length > 0 ? active.join(", ") : "Deno's own limits only"}`,
    );
    if (missing.length === 0) return [has];
    const advice =
      "run the workers as root on Linux with util-linux (docs/decisions/0010-sandbox-privileges.md)";
    return [has, note("sandbox", `this system lacks: ${missing.join(", ")}`, advice)];
  } catch (error) {
    const { message, cause } = error as Error;
    const reason = cause instanceof Error ? `${message}: ${cause.message}` : message;
    return [
      problem(
        "sandbox",
        reason.replace(/\s+/g, " "),
        "check the disk, the limits of processes and files, and deno",
      ),
    ];
  }
}
