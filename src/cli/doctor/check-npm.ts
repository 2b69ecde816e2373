import { execFile } from "node:child_process";
import { tmpdir } from "node:os";
import { promisify } from "node:util";
import { npmEnvironment } from "../../components/run-npm.ts";
import { type Finding, ok, problem } from "./finding.ts";

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
